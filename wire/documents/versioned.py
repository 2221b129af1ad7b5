"""Documents of accounts, as their writer sends them to the engines (docs/operations/documents.md).

Each document has a version, and a higher one replaces a lower one. A checksum says whether the
engines have the same documents of an account as the writer.
"""

import hashlib
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from wire.base import Name, Shape

DocumentKind = Literal["route", "flow", "request", "agent", "callback", "phone"]
# What a route names is there before the route.
KINDS: tuple[DocumentKind, ...] = ("callback", "request", "flow", "agent", "phone", "route")
SECRET_KINDS = frozenset[DocumentKind]({"request", "callback", "phone"})
DocumentId = Annotated[str, Meta(min_length=1, max_length=128)]
CALLBACK_ID = "default"  # an account has one callback document
MAX_ACCOUNTS = 250  # in a request
MAX_CHANGES = 1_000
MAX_PATCH_BYTES = 2_097_152
_DELETED = b"null"
_DIGEST_CHARS = 12
_MODULUS: int = 16**_DIGEST_CHARS


class FlowState(Shape, frozen=True):
    """The document of a flow: the number of the version that new calls run; 0: none.

    `last` is the number of the newest version, published or not.
    """

    published: int
    last: int


class DocumentChange(Shape, frozen=True):
    """A document as of a version; null: it is deleted."""

    account: Name
    kind: DocumentKind
    id: DocumentId
    version: Annotated[int, Meta(ge=1)]
    body: msgspec.Raw

    @property
    def document(self) -> bytes | None:
        """The body; None: the document is deleted."""
        body = bytes(self.body)
        return None if body == _DELETED else body


class FlowVersionBody(Shape, frozen=True):
    """A version of a flow, which is stored before the flow's document names it."""

    account: Name
    flow: DocumentId
    number: Annotated[int, Meta(ge=1)]
    body: msgspec.Raw


class PatchDocuments(Shape, frozen=True):
    """Documents to store unless the engines' store has newer ones; versions of flows come first."""

    changes: Annotated[tuple[DocumentChange, ...], Meta(max_length=MAX_CHANGES)] = ()
    flow_versions: Annotated[tuple[FlowVersionBody, ...], Meta(max_length=MAX_CHANGES)] = ()


class PatchedDocuments(Shape, frozen=True):
    """The version that the store has now of each change; 0: the change was not accepted."""

    versions: tuple[int, ...]


class AccountNames(Shape, frozen=True):
    """Some accounts."""

    accounts: Annotated[tuple[Name, ...], Meta(max_length=MAX_ACCOUNTS)]


class AccountChecksums(Shape, frozen=True):
    """The checksum of an account's documents of each kind; kinds without documents are absent."""

    account: str
    checksums: dict[DocumentKind, int]


class DocumentChecksums(Shape, frozen=True):
    """The checksums of some accounts."""

    accounts: tuple[AccountChecksums, ...]


class DocumentVersions(Shape, frozen=True):
    """The versions of an account's documents of a kind, by id."""

    versions: dict[str, int]


def version_digest(doc_id: str, version: int) -> int:
    """Return what a document contributes to a checksum; `documents/put.lua` does the same.

    A checksum is the sum of the digests, modulo 2 ** 48.
    """
    digest = hashlib.sha1(f"{doc_id}:{version}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:_DIGEST_CHARS], 16)


def add_digests(checksum: int, *, removed: int = 0, added: int = 0) -> int:
    """Return a checksum with a digest less and another one more."""
    return (checksum - removed + added) % _MODULUS
