"""`/srmain/contacts_list…`: contact lists; each account sees its own."""

import json
from typing import Annotated

from fastapi import Query

from api.auth.dependencies import AuthenticatedUser
from api.contacts.ids import BASE
from api.contacts.lists.dependencies import DATA, ListId, Lists, decode_data
from api.contacts.lists.schemas import ChangeData, InboundListRequest, ListQuery
from api.contacts.lists.views import ContactListPage, ContactListView, ListDeletionResult
from api.http.multipart import MultipartForm, form_schema
from api.http.routes import Body, Routes

routes = Routes("Contact lists")
CHANGE = f"{BASE}/updatecontactlist/"
CHANGE_EXAMPLE = {"data": json.dumps({"name": "Spring, again", "status": "MAPPING_DONE"})}
INBOUND_EXAMPLE = {
    "name": "Callers",
    "description": "Who called us",
    "assignedFields": ["city"],
}


@routes.delete(
    f"{BASE}/delete-file/{{contactListId}}",
    id="contactLists.delete",
    scope="contacts:write",
    errors=(404, 429),
)
async def delete_list(user: AuthenticatedUser, list_id: ListId, lists: Lists) -> ListDeletionResult:
    """Delete a list, its file and all of its contacts."""
    return await lists.delete(user.account_id, list_id)


@routes.get(f"{BASE}/contactlists", id="contactLists.list", scope="contacts:read")
async def contact_lists(
    user: AuthenticatedUser, query: Annotated[ListQuery, Query()], lists: Lists
) -> ContactListPage:
    """List contact lists, newest first."""
    return await lists.page(user.account_id, query)


@routes.get(
    f"{BASE}/get-contactList-by-Id/{{contactListId}}",
    id="contactLists.getById",
    alias_of="contactLists.get",
    scope="contacts:read",
    errors=(404,),
)
@routes.get(
    f"{BASE}/contactlists/{{contactListId}}",
    id="contactLists.get",
    scope="contacts:read",
    errors=(404,),
)
async def contact_list(user: AuthenticatedUser, list_id: ListId, lists: Lists) -> ContactListView:
    """Show a list, its file, and the progress of its import."""
    return await lists.get(user.account_id, list_id)


@routes.patch(
    f"{CHANGE}{{contactListId}}",
    id="contactLists.update",
    scope="contacts:write",
    errors=(404, 409, 413),
    form=form_schema(DATA, (), CHANGE_EXAMPLE),
)
async def change_list(
    user: AuthenticatedUser, list_id: ListId, lists: Lists, form: MultipartForm
) -> ContactListView:
    """Change the fields of a list that `data` names; a file replaces the list's file."""
    data = decode_data(form.fields.get("data", "{}"), ChangeData)
    return await lists.change(user.account_id, list_id, data, form.file)


@routes.post(
    f"{BASE}/inbound-contact-list",
    id="contactLists.create",
    scope="contacts:write",
    status=201,
    errors=(409,),
    example=INBOUND_EXAMPLE,
    idempotent=True,
)
async def create_inbound_list(
    user: AuthenticatedUser, lists: Lists, body: Body[InboundListRequest]
) -> ContactListView:
    """Create a list without a file, for example for callers."""
    return await lists.create_inbound(user.account_id, body)
