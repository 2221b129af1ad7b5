"""A stored document, the versions of flows, and what a list shows of a large document."""

from typing import Any

import msgspec
from msgspec import Struct

from wire.documents.versioned import DocumentKind

Kind = DocumentKind
SUMMARIZED: Kind = "request"  # a list does not read and decrypt the whole of each


class Document(Struct, frozen=True):
    """A document of an account. Its version grows with each change, and is its ETag.

    The body is JSON; of a flow it is a `wire.documents.versioned.FlowState`.
    """

    account_id: str
    kind: DocumentKind
    id: str
    version: int
    body: bytes
    changed_ms: int = 0


class FlowVersion(Struct, frozen=True):
    """A version of a flow; versions never change."""

    number: int
    body: bytes
    made_ms: int
    is_published: bool  # now or before


class FlowVersionInfo(Struct, frozen=True):
    """A version of a flow without its body, but with its size."""

    number: int
    size: int
    made_ms: int
    is_published: bool


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
