"""Versioned documents in this process's memory: the twin of those in Redis."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from engine.store.store import MAX_FLOW_VERSIONS
from engine.store.versioned_documents import (
    DELETION_KEPT_MS,
    SHARED_KINDS,
    VersionedDocument,
)
from wire.documents.versioned import (
    DocumentKind,
    add_digests,
    version_digest,
)

_ACCOUNT_KINDS: tuple[DocumentKind, ...] = ("flow", "request", "agent", "callback")


class _Entry(Struct, frozen=True):
    """A document: its account, and its version."""

    account: str
    version: int
    body: bytes


class _Table:
    """The documents of one kind, of one account or shared by all."""

    def __init__(self) -> None:
        self.entries: dict[str, _Entry] = {}
        self.deleted: dict[str, int] = {}

    def version(self, doc_id: str) -> int:
        entry = self.entries.get(doc_id)
        return entry.version if entry else self.deleted.get(doc_id, 0)

    def bodies(self) -> dict[str, bytes]:
        return {name: each.body for name, each in self.entries.items()}


class MemoryVersionedDocuments:
    """Implements `VersionedDocuments`."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._tables: dict[tuple[DocumentKind, str], _Table] = {}
        self._flow_bodies: dict[tuple[str, str], dict[int, bytes]] = {}
        self.agent_changes: dict[str, list[str]] = {}
        self.phone_changes: list[str] = []
        self.endpoints: dict[str, str] = {}
        self.reserved_endpoints: dict[str, tuple[str, int]] = {}  # the account, and until when
        self.losses = 0  # of everything

    def table(self, kind: DocumentKind, account: str = "") -> _Table:
        """Return the documents of a kind, as they are now."""
        key = (kind, "" if kind in SHARED_KINDS else account)
        return self._tables.setdefault(key, _Table())

    def flow_bodies(self, account: str, flow_id: str) -> dict[int, bytes]:
        """Return the versions of a flow, by number."""
        return self._flow_bodies.setdefault((account, flow_id), {})

    async def put(
        self, account: str, kind: DocumentKind, documents: Sequence[VersionedDocument]
    ) -> list[int]:
        return [self.put_now(account, kind, each) for each in documents]

    def put_now(self, account: str, kind: DocumentKind, document: VersionedDocument) -> int:
        """Store a document unless there is a newer one; see `put`."""
        table, version = self.table(kind, account), document.version
        if version < (stored := table.version(document.id)):
            return stored
        self._write(table, account, kind, document)
        if document.body is None:
            table.deleted[document.id] = version
            since = self._now_ms() - DELETION_KEPT_MS
            table.deleted = {name: each for name, each in table.deleted.items() if each > since}
        else:
            table.entries[document.id] = _Entry(account, version, document.body)
            table.deleted.pop(document.id, None)
        return version

    async def put_flow_version(self, account: str, flow_id: str, number: int, body: bytes) -> None:
        versions = self.flow_bodies(account, flow_id)
        versions[number] = body
        versions.pop(number - MAX_FLOW_VERSIONS, None)

    async def checksums(self, accounts: Sequence[str]) -> list[dict[DocumentKind, int]]:
        return [
            {
                kind: checksum
                for kind in (*sorted(SHARED_KINDS), *_ACCOUNT_KINDS)
                if (checksum := _checksum(await self.versions(account, kind)))
            }
            for account in accounts
        ]

    async def versions(self, account: str, kind: DocumentKind) -> dict[str, int]:
        entries = self.table(kind, account).entries
        return {name: each.version for name, each in entries.items() if each.account == account}

    async def read(
        self, account: str, kind: DocumentKind, ids: Sequence[str]
    ) -> Mapping[str, bytes]:
        entries = self.table(kind, account).entries
        return {
            name: entries[name].body
            for name in ids
            if name in entries and entries[name].account == account
        }

    def clear(self) -> None:
        """Lose everything, as a server without persistence does."""
        self._tables.clear()
        self._flow_bodies.clear()
        self.phone_changes.clear()
        self.endpoints.clear()
        self.reserved_endpoints.clear()
        self.losses += 1

    def _write(
        self, table: _Table, account: str, kind: DocumentKind, document: VersionedDocument
    ) -> None:
        table.entries.pop(document.id, None)
        if kind == "agent":
            self.agent_changes.setdefault(account, []).append(document.id)
        if kind == "phone":
            self.phone_changes.append(document.id)


def _checksum(versions: Mapping[str, int]) -> int:
    total = 0
    for name, version in versions.items():
        total = add_digests(total, added=version_digest(name, version))
    return total
