"""`/srmain/msgapp-numbers`: numbers on the messaging platform; each account sees its own."""

from typing import Annotated

from fastapi import Depends, Path

from api.auth.dependencies import AuthenticatedUser
from api.http.paging import Page, paging
from api.http.routes import Body, Routes
from api.http.services import service
from api.numbers.schemas import (
    DeletionResult,
    MessagingNumber,
    MessagingNumberChange,
    MessagingNumberPage,
    NewMessagingNumber,
)
from api.numbers.service import NumberService

routes = Routes("Messaging numbers")
BASE = "/srmain/msgapp-numbers"
Numbers = Annotated[NumberService, service("numbers")]
NumberId = Annotated[str, Path(alias="id")]
PageQuery = Annotated[Page, Depends(paging(100))]
EXAMPLE = {
    "businessName": "Example Shop",
    "phoneNumberId": "106540352242922",
    "businessMsgappNumber": "+4721930000",
    "flowbuilderId": "welcome",
    "via": "add",
}


@routes.post(
    BASE,
    id="messagingNumbers.create",
    scope="numbers:write",
    status=201,
    errors=(409, 503),
    example=EXAMPLE,
    idempotent=True,
)
async def create_number(
    user: AuthenticatedUser, numbers: Numbers, body: Body[NewMessagingNumber]
) -> MessagingNumber:
    """Store a number that the account's business has on the messaging platform."""
    return await numbers.create(user.account_id, body)


@routes.get(BASE, id="messagingNumbers.list", scope="numbers:read")
async def list_numbers(
    user: AuthenticatedUser, page: PageQuery, numbers: Numbers
) -> MessagingNumberPage:
    """List messaging numbers, newest first."""
    return await numbers.list(user.account_id, page)


@routes.patch(
    f"{BASE}/{{id}}",
    id="messagingNumbers.update",
    scope="numbers:write",
    errors=(404, 503),
    example={"verified": True, "flowbuilderId": None},
)
async def change_number(
    number_id: NumberId,
    user: AuthenticatedUser,
    numbers: Numbers,
    body: Body[MessagingNumberChange],
) -> MessagingNumber:
    """Change a messaging number; omitted fields keep their values."""
    return await numbers.change(user.account_id, number_id, body)


@routes.delete(f"{BASE}/{{id}}", id="messagingNumbers.delete", scope="numbers:write", errors=(404,))
async def delete_number(
    number_id: NumberId, user: AuthenticatedUser, numbers: Numbers
) -> DeletionResult:
    """Delete a messaging number.

    Its templates stay: they belong to the business account.
    """
    return await numbers.delete(user.account_id, number_id)
