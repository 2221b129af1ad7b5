"""A stored document, and the versions of flows."""

from msgspec import Struct

from wire.documents.versioned import CALLBACK_ID, KINDS, SECRET_KINDS, DocumentKind, FlowState

__all__ = [
    "CALLBACK_ID",
    "KINDS",
    "SECRET_KINDS",
    "Document",
    "FlowState",
    "FlowVersion",
    "FlowVersionInfo",
    "Kind",
]
Kind = DocumentKind


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
