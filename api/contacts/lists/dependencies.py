"""What routes of contact lists ask for."""

from typing import Annotated, TypeVar

import msgspec
from fastapi import Depends, Request

from api.contacts.ids import ListIdPath, read_id
from api.contacts.imports.service import ImportService
from api.contacts.lists.plugin import ListSlice
from api.contacts.lists.service import ListService
from api.http.msgspec_adapter import decode
from wire.errors import BadInput

BASE = "/srmain/contacts_list"
SHOWN, DONE = (401, 404), (401, 404, 409)
DATA = {"data": {"type": "string", "contentMediaType": "application/json"}}
T = TypeVar("T")


def slice_of(request: Request) -> ListSlice:
    """Give the slice of this process."""
    found: ListSlice = request.app.state.services.lists
    return found


async def _lists(request: Request) -> ListService:
    return slice_of(request).lists


async def _process(request: Request) -> ImportService:
    return slice_of(request).process


async def _id(list_id: ListIdPath) -> int:
    return read_id(list_id, "contact list")


Lists = Annotated[ListService, Depends(_lists)]
Processes = Annotated[ImportService, Depends(_process)]
ListId = Annotated[int, Depends(_id)]


def data_of(text: str, decoder: msgspec.json.Decoder[T]) -> T:
    """Read the JSON that a form's field `data` holds; raises BadInput."""
    try:
        return decode(text.encode(), decoder)
    except BadInput as error:
        path = f"data.{error.path}" if error.path else "data"
        raise BadInput(path, error.message, error.code) from None
