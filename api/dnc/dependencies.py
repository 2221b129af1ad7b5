"""Dependencies of the do-not-call routes."""

from typing import Annotated

from fastapi import Depends, Path, Request

from api.dnc.service import DncService


async def dnc_service(request: Request) -> DncService:
    found: DncService = request.app.state.services.dnc
    return found


Dnc = Annotated[DncService, Depends(dnc_service)]
Token = Annotated[str, Path(description="The account's do-not-call token.", max_length=128)]
