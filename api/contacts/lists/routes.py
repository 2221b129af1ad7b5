"""`/srmain/contacts_list…`: contact lists, their files and tags; each account sees its own."""

import json
from typing import Annotated, TypeVar

from fastapi import Depends, Query
from fastapi.responses import StreamingResponse

from api.auth.dependencies import AuthenticatedUser
from api.contacts.ids import BASE, ListIdPath, parse_id
from api.contacts.imports.service import ImportService
from api.contacts.lists import schemas
from api.contacts.lists.service import ListService
from api.contacts.lists.views import (
    ContactListPage,
    ContactListView,
    FilePreview,
    ListDeletionResult,
)
from api.contacts.tags import (
    ListTags,
    ListTagsRequest,
    ManageTagsRequest,
    TagReplacement,
    TagService,
)
from api.http.multipart import MultipartForm, form_schema
from api.http.routes import Body, Routes
from api.http.services import service
from wire.decoding import lenient
from wire.decoding.json_errors import check_unique

DATA = {"data": {"type": "string", "contentMediaType": "application/json"}}
T = TypeVar("T")
routes = Routes("Contact lists")
CHANGE = f"{BASE}/updatecontactlist/"
CHANGE_EXAMPLE = {"data": json.dumps({"name": "Spring, again", "status": "MAPPING_DONE"})}
INBOUND_EXAMPLE = {
    "name": "Callers",
    "description": "Who called us",
    "assignedFields": ["city"],
}
UPLOAD = f"{BASE}/upload"
UPLOAD_EXAMPLE = {
    "file": "Phone,First name,City\r\n+4722222222,Nina,Oslo\r\n",
    "data": json.dumps({"name": "Spring", "description": "Who asked for a call", "isActive": True}),
}
tag_routes = Routes("Contacts")
Tags = Annotated[TagService, service("contacts.tags")]


async def _list_id(list_id: ListIdPath) -> int:
    return parse_id(list_id, "contact list")


Lists = Annotated[ListService, service("lists.lists")]


Imports = Annotated[ImportService, service("lists.imports")]


ListId = Annotated[int, Depends(_list_id)]


def decode_data(text: str, shape: type[T]) -> T:
    """Decode the JSON in a form's field `data`; raises BadInput."""
    found = lenient.decode(text.encode(), shape, "data")
    check_unique(text.encode(), "data")
    return found


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
    user: AuthenticatedUser, query: Annotated[schemas.ListQuery, Query()], lists: Lists
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
    data = decode_data(form.fields.get("data", "{}"), schemas.ChangeData)
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
    user: AuthenticatedUser, lists: Lists, body: Body[schemas.InboundListRequest]
) -> ContactListView:
    """Create a list without a file, for example for callers."""
    return await lists.create_inbound(user.account_id, body)


@routes.post(
    UPLOAD,
    id="contactLists.upload",
    scope="contacts:write",
    status=201,
    errors=(409, 413),
    form=form_schema(DATA, ("file", "data"), UPLOAD_EXAMPLE),
    idempotent=True,
)
async def upload(user: AuthenticatedUser, lists: Lists, form: MultipartForm) -> ContactListView:
    """Create a list from a CSV file or a spreadsheet.

    `data` is JSON: name, description, isDefault, isActive, assignedFields, encoding and
    delimiter.
    """
    data = decode_data(form.field("data"), schemas.UploadData)
    return await lists.upload(user.account_id, data, form.required_file())


@routes.get(
    f"{BASE}/preview/{{contactListId}}",
    id="contactLists.preview",
    scope="contacts:read",
    errors=(404,),
)
async def preview(user: AuthenticatedUser, list_id: ListId, lists: Lists) -> FilePreview:
    """Show the columns of a list's file and its first rows."""
    return await lists.preview(user.account_id, list_id)


@routes.post(
    f"{BASE}/map-fields/{{contactListId}}",
    id="contactLists.mapFields",
    scope="contacts:write",
    errors=(404, 409),
    example={"mappings": {"Phone": "phoneNumber", "First name": "fName"}},
)
async def map_fields(
    user: AuthenticatedUser,
    list_id: ListId,
    imports: Imports,
    lists: Lists,
    body: Body[schemas.FieldMappingRequest],
) -> ContactListView:
    """Map the columns of a list's file to the fields of its contacts."""
    await imports.map_columns(user.account_id, list_id, body.mappings)
    return await lists.get(user.account_id, list_id)


@routes.post(
    f"{BASE}/process-file/{{contactListId}}",
    id="contactLists.process",
    scope="contacts:write",
    errors=(404, 409, 429),
    idempotent=True,
)
async def process_file(
    user: AuthenticatedUser,
    list_id: ListId,
    query: Annotated[schemas.ProcessQuery, Query()],
    imports: Imports,
    lists: Lists,
) -> ContactListView:
    """Import the contacts of a list's file, in the background; the list shows the progress."""
    await imports.start(user.account_id, list_id, query.action)
    return await lists.get(user.account_id, list_id)


@routes.get(
    f"{BASE}/rejected-rows/{{contactListId}}",
    id="contactLists.rejectedRows",
    scope="contacts:read",
    errors=(404, 409),
    has_file=True,
)
async def rejected_rows(
    user: AuthenticatedUser, list_id: ListId, lists: Lists
) -> StreamingResponse:
    """Download the rejected rows as CSV, each with its line number and the reason."""
    content = await lists.rejected_rows(user.account_id, list_id)
    name = f'attachment; filename="rejected-{list_id}.csv"'
    return StreamingResponse(
        content,
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": name},
    )


@tag_routes.patch(
    f"{BASE}/{{contactListId}}/tags",
    id="contactLists.updateTags",
    scope="contacts:write",
    errors=(404,),
    example={"tagsToAdd": ["spring"], "tagsToRemove": ["winter"]},
)
async def change_list_tags(
    list_id: ListIdPath, user: AuthenticatedUser, tags: Tags, body: Body[ListTagsRequest]
) -> ListTags:
    """Add and remove tags of a list; the tags of its contacts stay."""
    return await tags.change(user.account_id, list_id, body)


@tag_routes.patch(
    f"{BASE}/{{contactListId}}/manage-tags",
    id="contacts.replaceTags",
    scope="contacts:write",
    errors=(404, 429),
    example={"removeTag": "new", "insertTag": "called"},
)
async def replace_contact_tags(
    list_id: ListIdPath, user: AuthenticatedUser, tags: Tags, body: Body[ManageTagsRequest]
) -> TagReplacement:
    """Replace a tag of a list's contacts by another; with one of the two, only remove or add it."""
    return await tags.replace(user.account_id, list_id, body)
