"""Files of contact lists over REST: uploaded, looked at, mapped, processed."""

from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from api.auth.routes import AuthenticatedUser
from api.contacts.lists import examples
from api.contacts.lists.dependencies import (
    BASE,
    DATA,
    DONE,
    SHOWN,
    ListId,
    Lists,
    Processes,
    data_of,
)
from api.contacts.lists.schemas import MapBody, ProcessQuery, UploadData
from api.contacts.lists.views import ListView, Preview
from api.http.idempotency import IdempotencyKey
from api.http.msgspec_adapter import answer, described, reading
from api.http.multipart import form_schema, read_form
from api.http.responses import once, told

router = APIRouter(tags=["Contact lists"])
UPLOAD = f"{BASE}/upload"
_UPLOAD = msgspec.json.Decoder(UploadData)


@router.post(
    UPLOAD,
    **described(
        "Upload a file",
        answered=ListView,
        status=201,
        statuses=(401, 409, 413),
        form=form_schema(DATA, ("file", "data"), examples.UPLOAD),
    ),
)
async def upload(
    request: Request, who: AuthenticatedUser, lists: Lists, key: IdempotencyKey = None
) -> Response:
    """Make a list of a CSV file or a spreadsheet.

    `data` is JSON: name, description, isDefault, isActive; beyond the specification assignedFields,
    encoding and delimiter.
    """
    async with read_form(request) as form:
        data, file = data_of(form.field("data"), _UPLOAD), form.given_file()

        async def deed(_request_id: str) -> bytes:
            return msgspec.json.encode(await lists.upload(who.account_id, data, file))

        return told(await once(request, who, key, deed, form.digest), 201)


@router.get(
    f"{BASE}/preview/{{contactListId}}",
    **described("A file's first rows", answered=Preview, statuses=SHOWN),
)
async def preview(who: AuthenticatedUser, list_id: ListId, lists: Lists) -> Response:
    """Show the columns of a list's file and its first rows, to map them."""
    return answer(await lists.preview(who.account_id, list_id))


@router.post(
    f"{BASE}/map-fields/{{contactListId}}",
    **described(
        "Map columns",
        asked=MapBody,
        answered=ListView,
        statuses=DONE,
        example=examples.MAPPINGS,
    ),
)
async def map_fields(
    who: AuthenticatedUser,
    list_id: ListId,
    body: Annotated[MapBody, Depends(reading(MapBody))],
    process: Processes,
    lists: Lists,
) -> Response:
    """Say which column of a list's file fills which field of its contacts."""
    await process.map(who.account_id, list_id, body.mappings)
    return answer(await lists.get(who.account_id, list_id))


@router.post(
    f"{BASE}/process-file/{{contactListId}}",
    **described("Process a file", answered=ListView, statuses=(*DONE, 429)),
)
async def process_file(  # noqa: PLR0913 - FastAPI gives each of them by its name
    request: Request,
    who: AuthenticatedUser,
    list_id: ListId,
    *,
    asked: Annotated[ProcessQuery, Query()],
    process: Processes,
    lists: Lists,
    key: IdempotencyKey = None,
) -> Response:
    """Make contacts of a list's file, in the background; the list shows how far it is."""

    async def deed(_request_id: str) -> bytes:
        await process.start(who.account_id, list_id, asked.action)
        return msgspec.json.encode(await lists.get(who.account_id, list_id))

    return told(await once(request, who, key, deed))


@router.get(
    f"{BASE}/rejected-rows/{{contactListId}}",
    **described("Rows that were rejected", statuses=DONE),
)
async def rejected_rows(who: AuthenticatedUser, list_id: ListId, lists: Lists) -> StreamingResponse:
    """Send the rows that are no contacts as CSV, each with its line and why."""
    content = await lists.rejected(who.account_id, list_id)
    name = f'attachment; filename="rejected-{list_id}.csv"'
    return StreamingResponse(
        content,
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": name},
    )
