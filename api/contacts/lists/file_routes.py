"""Files of contact lists over REST: uploaded, previewed, mapped, imported."""

import json
from typing import Annotated

from fastapi import Query
from fastapi.responses import StreamingResponse

from api.auth.dependencies import AuthenticatedUser
from api.contacts.ids import BASE
from api.contacts.imports.schemas import FieldMappingRequest, ProcessQuery
from api.contacts.lists.dependencies import DATA, Imports, ListId, Lists, decode_data
from api.contacts.lists.schemas import UploadData
from api.contacts.lists.views import ContactListView, FilePreview
from api.http.multipart import MultipartForm, form_schema
from api.http.routes import Body, Routes

routes = Routes("Contact lists")
UPLOAD = f"{BASE}/upload"
UPLOAD_EXAMPLE = {
    "file": "Phone,First name,City\r\n+4722222222,Nina,Oslo\r\n",
    "data": json.dumps({"name": "Spring", "description": "Who asked for a call", "isActive": True}),
}


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
    data = decode_data(form.field("data"), UploadData)
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
    body: Body[FieldMappingRequest],
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
    query: Annotated[ProcessQuery, Query()],
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
