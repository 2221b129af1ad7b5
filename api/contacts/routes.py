"""`/srmain/contacts_list…`: contact lists, from upload to contacts; each account sees its own."""

from typing import Annotated, TypeVar

import msgspec
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from api.auth.routes import Authenticated
from api.contacts import examples
from api.contacts.ids import read_id
from api.contacts.paths import ListName
from api.contacts.processing import Process
from api.contacts.schemas import (
    ChangeData,
    InboundBody,
    Listing,
    MapBody,
    Processing,
    UploadData,
)
from api.contacts.service import Service
from api.contacts.sheet import rejected_csv
from api.contacts.slice import ListSlice
from api.contacts.views import Deleted, ListPage, ListView, Preview
from api.forms import form_described, form_of
from api.shapes import answer, decoded, described, reading
from wire.errors import BadInput

router = APIRouter(tags=["Contact lists"])
BASE = "/srmain/contacts_list"
UPLOAD, CHANGE = f"{BASE}/upload", f"{BASE}/updatecontactlist/"
SHOWN, DONE = (401, 404), (401, 404, 409)
_UPLOAD = msgspec.json.Decoder(UploadData)
_CHANGE = msgspec.json.Decoder(ChangeData)
T = TypeVar("T")
_DATA = {"data": {"type": "string", "contentMediaType": "application/json"}}


def slice_of(request: Request) -> ListSlice:
    """Give the slice of this process."""
    found: ListSlice = request.app.state.parts.lists
    return found


async def _lists(request: Request) -> Service:
    return slice_of(request).lists


async def _process(request: Request) -> Process:
    return slice_of(request).process


async def _id(list_id: ListName) -> int:
    return read_id(list_id, "contact list")


Lists = Annotated[Service, Depends(_lists)]
Processes = Annotated[Process, Depends(_process)]
ListId = Annotated[int, Depends(_id)]


@router.post(
    UPLOAD,
    **described(
        "Upload a file",
        answered=ListView,
        status=201,
        statuses=(401, 413),
        form=form_described(_DATA, ("file", "data"), examples.UPLOAD),
    ),
)
async def upload(request: Request, who: Authenticated, lists: Lists) -> Response:
    """Make a list of a CSV file or a spreadsheet.

    `data` is JSON: name, description, isDefault, isActive; beyond the specification assignedFields,
    encoding and delimiter.
    """
    async with form_of(request) as form:
        data = _data(form.field("data"), _UPLOAD)
        return answer(await lists.upload(who.account_id, data, form.given_file()), 201)


@router.get(
    f"{BASE}/preview/{{contactListId}}",
    **described("A file's first rows", answered=Preview, statuses=SHOWN),
)
async def preview(who: Authenticated, list_id: ListId, lists: Lists) -> Response:
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
    who: Authenticated,
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
    **described("Process a file", answered=ListView, statuses=DONE),
)
async def process_file(
    who: Authenticated,
    list_id: ListId,
    asked: Annotated[Processing, Query()],
    process: Processes,
    lists: Lists,
) -> Response:
    """Make contacts of a list's file, in the background; the list shows how far it is."""
    await process.start(who.account_id, list_id, asked.action)
    return answer(await lists.get(who.account_id, list_id))


@router.get(
    f"{BASE}/rejected-rows/{{contactListId}}",
    **described("Rows that were rejected", statuses=SHOWN),
)
async def rejected_rows(who: Authenticated, list_id: ListId, lists: Lists) -> StreamingResponse:
    """Send the rows that are no contacts as CSV, each with its line and why."""
    pages, headers = await lists.rejected(who.account_id, list_id)
    name = f'attachment; filename="rejected-{list_id}.csv"'
    return StreamingResponse(
        rejected_csv(pages, headers),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": name},
    )


@router.delete(
    f"{BASE}/delete-file/{{contactListId}}",
    **described("Delete a list", answered=Deleted, statuses=SHOWN),
)
async def delete_file(who: Authenticated, list_id: ListId, lists: Lists) -> Response:
    """Delete a list, its file and all of its contacts."""
    return answer(await lists.delete(who.account_id, list_id))


@router.get(
    f"{BASE}/contactlists", **described("List contact lists", answered=ListPage, statuses=(401,))
)
async def contact_lists(
    who: Authenticated, asked: Annotated[Listing, Query()], lists: Lists
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
async def contact_list(who: Authenticated, list_id: ListId, lists: Lists) -> Response:
    """Show a list, its file, and how far it is processed."""
    return answer(await lists.get(who.account_id, list_id))


@router.patch(
    f"{CHANGE}{{contactListId}}",
    **described(
        "Change a list",
        answered=ListView,
        statuses=(*DONE, 413),
        form=form_described(_DATA, (), examples.CHANGE),
    ),
)
async def change(request: Request, who: Authenticated, list_id: ListId, lists: Lists) -> Response:
    """Change what `data` names, and give the list another file if there is one."""
    async with form_of(request) as form:
        data = _data(form.fields.get("data", "{}"), _CHANGE)
        return answer(await lists.change(who.account_id, list_id, data, form.file))


@router.post(
    f"{BASE}/inbound-contact-list",
    **described(
        "Make a list without a file",
        asked=InboundBody,
        answered=ListView,
        status=201,
        statuses=(401,),
        example=examples.INBOUND,
    ),
)
async def inbound(
    who: Authenticated, body: Annotated[InboundBody, Depends(reading(InboundBody))], lists: Lists
) -> Response:
    """Make an empty list, as for those who call in."""
    return answer(await lists.inbound(who.account_id, body), 201)


def _data(text: str, decoder: msgspec.json.Decoder[T]) -> T:
    try:
        return decoded(text.encode(), decoder)
    except BadInput as error:
        path = f"data.{error.path}" if error.path else "data"
        raise BadInput(path, error.message, error.code) from None
