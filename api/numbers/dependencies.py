"""Dependencies of the routes of messaging numbers."""

from typing import Annotated

from fastapi import Depends, Request

from api.numbers.service import NumberService


async def number_service(request: Request) -> NumberService:
    found: NumberService = request.app.state.services.numbers
    return found


Numbers = Annotated[NumberService, Depends(number_service)]
