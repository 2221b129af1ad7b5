"""`/srmain/msgapp-numbers`: numbers of the messaging platform; each account sees its own."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response
from msgspec.json import encode

from api.auth.dependencies import AuthenticatedUser
from api.http.idempotency import IdempotencyKey
from api.http.msgspec_adapter import answer, described, reading
from api.http.paging import Page, paging
from api.http.responses import once, told
from api.numbers.schemas import DeletedNumber, NewNumber, NumberChange, NumberPage, NumberView
from api.numbers.service import NumberService

router = APIRouter(tags=["Messaging numbers"])
BASE = "/srmain/msgapp-numbers"
EXAMPLE = {
    "businessName": "Example Shop",
    "phoneNumberId": "106540352242922",
    "businessMsgappNumber": "+4721930000",
    "flowbuilderId": "welcome",
    "via": "add",
}


async def _service(request: Request) -> NumberService:
    found: NumberService = request.app.state.services.numbers
    return found


Numbers = Annotated[NumberService, Depends(_service)]
PageQuery = Annotated[Page, Depends(paging(100))]


@router.post(
    BASE,
    **described(
        "Keep a messaging number",
        asked=NewNumber,
        answered=NumberView,
        status=201,
        statuses=(401, 409, 503),
        example=EXAMPLE,
    ),
)
async def create_number(
    request: Request,
    who: AuthenticatedUser,
    numbers: Numbers,
    asked: Annotated[NewNumber, Depends(reading(NewNumber))],
    key: IdempotencyKey = None,
) -> Response:
    """Keep a number that the account's business has on the messaging platform."""

    async def deed(_request_id: str) -> bytes:
        return encode(await numbers.create(who.account_id, asked))

    return told(await once(request, who, key, deed), 201)


@router.get(BASE, **described("List messaging numbers", answered=NumberPage, statuses=(401,)))
async def list_numbers(who: AuthenticatedUser, page: PageQuery, numbers: Numbers) -> Response:
    """Give a page of numbers, newest first."""
    return answer(await numbers.list(who.account_id, page))


@router.patch(
    f"{BASE}/{{id}}",
    **described(
        "Change a messaging number",
        asked=NumberChange,
        answered=NumberView,
        statuses=(401, 404, 503),
        example={"verified": True, "flowbuilderId": None},
    ),
)
async def change_number(
    number_id: Annotated[str, Path(alias="id")],
    who: AuthenticatedUser,
    numbers: Numbers,
    asked: Annotated[NumberChange, Depends(reading(NumberChange))],
) -> Response:
    """Change what is given, and leave the rest."""
    return answer(await numbers.change(who.account_id, number_id, asked))


@router.delete(
    f"{BASE}/{{id}}",
    **described("Take a messaging number away", answered=DeletedNumber, statuses=(401, 404)),
)
async def remove_number(
    number_id: Annotated[str, Path(alias="id")],
    who: AuthenticatedUser,
    numbers: Numbers,
) -> Response:
    """Take a number away; templates stay, for they are the business account's."""
    return answer(await numbers.remove(who.account_id, number_id))
