"""Interface of versioned documents: what one writer sends, and compares by checksums."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct

from wire.documents.versioned import DocumentKind

DELETION_KEPT_MS = 7 * 86_400_000  # so long an earlier version cannot replace a deletion
SHARED_KINDS = frozenset[DocumentKind]({"route", "phone"})  # ids are unique over all accounts


class VersionedDocument(Struct, frozen=True):
    """A document as of a version; without a body it is deleted."""

    id: str
    version: int
    body: bytes | None


class VersionedDocuments(Protocol):
    """Documents with versions; every method may raise StoreDown, and may then be repeated."""

    async def put(
        self, account: str, kind: DocumentKind, documents: Sequence[VersionedDocument]
    ) -> list[int]:
        """Store documents unless there are newer ones; returns the version of each afterwards.

        A flow's body is a `FlowState`.
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
        """Return those of an account's documents that exist, by id; not of flows.

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
