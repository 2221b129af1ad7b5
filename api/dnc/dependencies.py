"""Dependencies of the do-not-call routes."""

from typing import Annotated

from fastapi import Depends, Path, Request

from api.dnc.service import DncService


async def _service(request: Request) -> DncService:
    service: DncService = request.app.state.services.dnc
    return service


Dnc = Annotated[DncService, Depends(_service)]
Token = Annotated[str, Path(description="The account's do-not-call token.", max_length=128)]
