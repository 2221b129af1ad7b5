"""Dependencies of the routes of messaging numbers."""

from typing import Annotated

from fastapi import Depends, Path, Request

from api.http.paging import Page, paging
from api.numbers.service import NumberService


async def _service(request: Request) -> NumberService:
    service: NumberService = request.app.state.services.numbers
    return service


Numbers = Annotated[NumberService, Depends(_service)]
NumberId = Annotated[str, Path(alias="id")]
PageQuery = Annotated[Page, Depends(paging(100))]
