"""What a list shows of a large document, so that it need not read and decrypt the whole of it."""

from typing import Any

import msgspec
from msgspec import Struct

from api.documents.document import Kind

SUMMARIZED: Kind = "request"


class RequestSummary(Struct, frozen=True):
    """The fields of an API request in a list; of its secrets the names."""

    name: str = ""
    method: str = "GET"
    url: str = ""
    secrets: tuple[str, ...] = ()


class _Stored(Struct, frozen=True):
    name: str = ""
    method: str = "GET"
    url: str = ""
    secrets: dict[str, Any] = {}


def summary_of(kind: Kind, body: bytes | None) -> bytes | None:
    """Return the summary of a document; None if its kind has none.

    A body that is no API request, which engines may have had before, has an empty one.
    """
    if kind != SUMMARIZED or body is None:
        return None
    try:
        found = msgspec.json.decode(body, type=_Stored)
    except msgspec.DecodeError:
        found = _Stored()
    names = tuple(sorted(found.secrets))
    return msgspec.json.encode(RequestSummary(found.name, found.method, found.url, names))
