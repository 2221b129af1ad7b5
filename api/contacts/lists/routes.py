"""`/srmain/contacts_list…`: contact lists; each account sees its own."""

from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Query, Request, Response

from api.auth.dependencies import AuthenticatedUser
from api.contacts.lists import examples
from api.contacts.lists.dependencies import BASE, DATA, DONE, SHOWN, ListId, Lists, data_of
from api.contacts.lists.schemas import ChangeData, InboundBody, ListQuery
from api.contacts.lists.views import DeletedList, ListPage, ListView
from api.http.idempotency import IdempotencyKey
from api.http.msgspec_adapter import answer, described, reading
from api.http.multipart import form_schema, read_form
from api.http.responses import once, told

router = APIRouter(tags=["Contact lists"])
CHANGE = f"{BASE}/updatecontactlist/"
_CHANGE = msgspec.json.Decoder(ChangeData)


@router.delete(
    f"{BASE}/delete-file/{{contactListId}}",
    **described("Delete a list", answered=DeletedList, statuses=(*SHOWN, 429)),
)
async def delete_file(who: AuthenticatedUser, list_id: ListId, lists: Lists) -> Response:
    """Delete a list, its file and all of its contacts."""
    return answer(await lists.delete(who.account_id, list_id))


@router.get(
    f"{BASE}/contactlists", **described("List contact lists", answered=ListPage, statuses=(401,))
)
async def contact_lists(
    who: AuthenticatedUser, asked: Annotated[ListQuery, Query()], lists: Lists
) -> Response:
    """Give a page of the lists, newest first."""
    return answer(await lists.page(who.account_id, asked))


@router.get(
    f"{BASE}/get-contactList-by-Id/{{contactListId}}",
    **described("One contact list", answered=ListView, statuses=SHOWN),
)
@router.get(
    f"{BASE}/contactlists/{{contactListId}}",
    **described("One contact list", answered=ListView, statuses=SHOWN),
)
async def contact_list(who: AuthenticatedUser, list_id: ListId, lists: Lists) -> Response:
    """Show a list, its file, and how far it is processed."""
    return answer(await lists.get(who.account_id, list_id))


@router.patch(
    f"{CHANGE}{{contactListId}}",
    **described(
        "Change a list",
        answered=ListView,
        statuses=(*DONE, 413),
        form=form_schema(DATA, (), examples.CHANGE),
    ),
)
async def change(
    request: Request, who: AuthenticatedUser, list_id: ListId, lists: Lists
) -> Response:
    """Change what `data` names, and give the list another file if there is one."""
    async with read_form(request) as form:
        data = data_of(form.fields.get("data", "{}"), _CHANGE)
        return answer(await lists.change(who.account_id, list_id, data, form.file))


@router.post(
    f"{BASE}/inbound-contact-list",
    **described(
        "Make a list without a file",
        asked=InboundBody,
        answered=ListView,
        status=201,
        statuses=(401, 409),
        example=examples.INBOUND,
    ),
)
async def inbound(
    request: Request,
    who: AuthenticatedUser,
    body: Annotated[InboundBody, Depends(reading(InboundBody))],
    lists: Lists,
    key: IdempotencyKey = None,
) -> Response:
    """Make an empty list, as for those who call in."""

    async def deed(_request_id: str) -> bytes:
        return msgspec.json.encode(await lists.inbound(who.account_id, body))

    return told(await once(request, who, key, deed), 201)
