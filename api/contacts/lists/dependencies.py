"""Dependencies of the contact list routes."""

from typing import Annotated, TypeVar

from fastapi import Depends

from api.contacts.ids import ListIdPath, parse_id
from api.contacts.imports.service import ImportService
from api.contacts.lists.service import ListService
from api.http.services import service
from wire.decoding import lenient
from wire.decoding.json_errors import check_unique

DATA = {"data": {"type": "string", "contentMediaType": "application/json"}}
T = TypeVar("T")


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
