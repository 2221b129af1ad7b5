"""Interface of versioned documents: what is written by version, and compared with a database."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct

from wire.documents.versioned import DocumentKind

DELETION_KEPT_MS = 7 * 86_400_000  # so long an earlier version cannot replace a deletion
FIRST_VERSION = 1  # of documents from before there were versions: any other one replaces it
SHARED_KINDS = frozenset[DocumentKind]({"route", "phone"})  # ids are unique over all accounts


class VersionedDocument(Struct, frozen=True):
    """A document as of a version; without a body it is deleted.

    Version 0 stands for the next one: at least the time in ms, and odd, while those of the
    database are even.
    """

    id: str
    version: int
    body: bytes | None


class VersionedDocuments(Protocol):
    """Documents with versions; every method may raise StoreDown, and may then be repeated."""

    async def put(
        self, account: str, kind: DocumentKind, documents: Sequence[VersionedDocument]
    ) -> list[int]:
        """Store documents unless there are newer ones; returns the version of each afterwards.

        A flow's body is a `FlowState`. A deletion at version 0 of what does not exist returns 0.
        """

    async def put_flow_version(self, account: str, flow_id: str, number: int, body: bytes) -> None:
        """Store a version of a flow under its number."""

    async def checksums(self, accounts: Sequence[str]) -> list[dict[DocumentKind, int]]:
        """Return the checksum of each kind; kinds without documents are absent."""

    async def versions(self, account: str, kind: DocumentKind) -> dict[str, int]:
        """Return the versions of an account's documents, without deletions."""

    async def read(
        self, account: str, kind: DocumentKind, ids: Sequence[str]
    ) -> Mapping[str, bytes]:
        """Return those of an account's documents that exist, by id.

        Those that are encrypted with a key that this engine does not have are empty.
        """


class _Owned(Struct, frozen=True):
    account: str = ""


def owner_in(body: bytes) -> str:
    """Return the account that a document of a shared kind names; empty: none."""
    try:
        return msgspec.json.decode(body, type=_Owned).account
    except msgspec.DecodeError:
        return ""
