"""Changes of documents within a transaction that has locked their collections.

The row of a collection stays locked until the commit, so versions are committed in order. They are
not less than the time in ms, so that a database that is recreated does not reuse earlier ones.
"""

from collections.abc import Collection as Names
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, RowMapping, and_, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.clock import Clock
from api.common.errors import Conflict, NotFound, PreconditionFailed
from api.db.database import Database, Store
from api.documents.cipher import DocumentCipher
from api.documents.document import Document, Kind, summary_of
from api.documents.tables import collections, documents
from wire.documents.versioned import SECRET_KINDS, add_digests, version_digest
from wire.rpc import FieldError


class StoredVersion(Struct, frozen=True):
    """What is stored under an id: version 0 if there has never been a document."""

    version: int = 0
    is_deleted: bool = True
    size: int = 0

    @property
    def live_version(self) -> int:
        """The version that a request may expect; 0: there is no document."""
        return 0 if self.is_deleted else self.version


class Change(Struct, frozen=True):
    """A document that is stored, or deleted if it has no body.

    `versions_size` is by how much the versions of a flow grow.
    """

    account_id: str
    kind: Kind
    id: str
    body: bytes | None
    versions_size: int = 0


class CollectionWriter(Struct, frozen=True):
    """Writes documents, and keeps the summaries of their collections.

    `max_bytes` is what an account may have, of all kinds together.
    """

    database: Database
    cipher: DocumentCipher
    max_bytes: int | None = None

    async def lock(self, connection: AsyncConnection, names: Names[str], kind: Kind) -> None:
        """Lock what accounts have of a kind, always in the same order; raises NotFound."""
        for account_id in sorted(names):
            numbers = dict.fromkeys(("version", "checksum", "count", "size"), 0)
            row = {"account_id": account_id, "kind": kind, **numbers}
            added = self.database.insert(collections).values(row).on_conflict_do_nothing()
            try:
                await connection.execute(added)
            except IntegrityError:
                raise NotFound(f"no account {account_id}") from None
            of = select(collections).where(_of(account_id, kind))
            await connection.execute(of.with_for_update())

    async def check(
        self, connection: AsyncConnection, change: Change, expected: int | None
    ) -> bool:
        """Return whether there is a document; raises PreconditionFailed for another version."""
        stored = await self.stored(connection, change)
        if expected not in {None, stored.live_version}:
            raise PreconditionFailed(f"{change.kind} {change.id} has changed since it was read")
        return not stored.is_deleted

    async def stored(self, connection: AsyncConnection, change: Change) -> StoredVersion:
        """Return the version of what a change replaces, which may be that of a deletion."""
        columns = documents.c
        query = select(columns.version, columns.is_deleted, columns.size).where(_this(change))
        row = (await connection.execute(query)).first()
        return StoredVersion(*row) if row else StoredVersion()

    async def replaced_body(self, connection: AsyncConnection, change: Change) -> bytes | None:
        """Return the body of what a change replaces; None: there is no document."""
        rows = (await connection.execute(select(documents).where(_this(change)))).mappings().all()
        return self.document(rows[0]).body if rows and not rows[0]["is_deleted"] else None

    async def write(
        self,
        connection: AsyncConnection,
        change: Change,
        now_ms: int,
        *,
        min_version: int = 0,
    ) -> Document:
        """Store a change under the next version.

        Raises Conflict if the account's documents become too large.
        """
        before = await self.stored(connection, change)
        of = _of(change.account_id, change.kind)
        summary = (await connection.execute(select(collections).where(of))).mappings().one()
        new = max(summary["version"] + 1, min_version, now_ms)
        after = _summary(summary, change, before, new)
        await self._check_size(connection, change.account_id, after["size"] - summary["size"])
        await connection.execute(self._upsert(), [self._row(change, new, now_ms)])
        await connection.execute(update(collections).where(of).values(after))
        return Document(change.account_id, change.kind, change.id, new, change.body or b"", now_ms)

    async def shrink(
        self, connection: AsyncConnection, account_id: str, kind: Kind, size: int
    ) -> None:
        """Count what was removed apart from a change."""
        of = _of(account_id, kind)
        await connection.execute(
            update(collections).where(of).values(size=collections.c.size - size)
        )

    async def _check_size(self, connection: AsyncConnection, account_id: str, growth: int) -> None:
        """Check what all collections have; changes of two kinds at once may exceed it by one."""
        if self.max_bytes is None or growth <= 0:
            return
        of_account = collections.c.account_id == account_id
        total = select(func.sum(collections.c.size)).where(of_account)
        size = int((await connection.execute(total)).scalar_one()) + growth
        if size <= self.max_bytes:
            return
        limit = f"at most {self.max_bytes} (SWITCHROOM_MAX_DOCUMENT_BYTES)"
        more = "with all versions of flows, and those of deleted ones"
        text = f"the account's documents would have {size} bytes, {more}; {limit}"
        raise Conflict(text, "quota", errors=(FieldError("", text, "quota"),))

    async def encrypt_again(self, row: RowMapping) -> None:
        """Encrypt a document with the first secret, unless it has changed; no new version."""
        of, body = place(row["account_id"], row["kind"], row["id"]), self.document(row).body
        same = and_(
            documents.c.account_id == row["account_id"],
            documents.c.kind == row["kind"],
            documents.c.id == row["id"],
            documents.c.version == row["version"],
        )
        values = {
            "body": self.cipher.encrypt(of, body),
            "summary": self._summary(row["kind"], of, body),
        }
        await self.database.execute(update(documents).where(same).values(values))

    def document(self, row: RowMapping) -> Document:
        """Return the document of a row; raises UnreadableDocument."""
        account_id, kind, doc_id, body = row["account_id"], row["kind"], row["id"], row["body"]
        if body is not None and kind in SECRET_KINDS:
            body = self.cipher.decrypt(place(account_id, kind, doc_id), body)
        return Document(
            account_id, kind, doc_id, row["version"], bytes(body or b""), row["changed_ms"]
        )

    def summary(self, row: RowMapping) -> Document:
        """Return a document with its summary as the body; raises UnreadableDocument."""
        account_id, kind, doc_id = row["account_id"], row["kind"], row["id"]
        body = self.cipher.decrypt(_summary_place(place(account_id, kind, doc_id)), row["summary"])
        return Document(account_id, kind, doc_id, row["version"], body, row["changed_ms"])

    def _summary(self, kind: Kind, of: str, body: bytes | None) -> bytes | None:
        summary = summary_of(kind, body)
        return summary and self.cipher.encrypt(_summary_place(of), summary)

    def _row(self, change: Change, version: int, now_ms: int) -> dict[str, Any]:
        body, of = change.body, place(change.account_id, change.kind, change.id)
        if body is not None and change.kind in SECRET_KINDS:
            body = self.cipher.encrypt(of, body)
        return {
            "account_id": change.account_id,
            "kind": change.kind,
            "id": change.id,
            "version": version,
            "body": body,
            "is_deleted": change.body is None,
            "changed_ms": now_ms,
            "size": len(change.body or b""),
            "summary": self._summary(change.kind, of, change.body),
        }

    def _upsert(self) -> Any:
        added = self.database.insert(documents)
        names = ("version", "body", "is_deleted", "changed_ms", "size", "summary")
        return added.on_conflict_do_update(
            index_elements=["account_id", "kind", "id"],
            set_={name: added.excluded[name] for name in names},
        )


class CollectionStore(Store):
    """Has a writer of documents; `max_bytes` is what an account may have."""

    def __init__(
        self,
        database: Database,
        now_ms: Clock,
        cipher: DocumentCipher,
        max_bytes: int | None = None,
    ) -> None:
        super().__init__(database, now_ms)
        self._writer = CollectionWriter(database, cipher, max_bytes)


def place(account_id: str, kind: str, doc_id: str) -> str:
    """Return the place that a document's ciphertext is bound to."""
    return f"{account_id}/{kind}/{doc_id}"


def _summary_place(of: str) -> str:
    return f"{of}/summary"


def is_live(account_id: str, kind: Kind) -> ColumnElement[bool]:
    """Return the condition on documents of a collection, without deleted ones."""
    columns = documents.c
    return and_(columns.account_id == account_id, columns.kind == kind, ~columns.is_deleted)


def _this(change: Change) -> ColumnElement[bool]:
    columns = documents.c
    of = and_(columns.account_id == change.account_id, columns.kind == change.kind)
    return and_(of, columns.id == change.id)


def _of(account_id: str, kind: Kind) -> ColumnElement[bool]:
    return and_(collections.c.account_id == account_id, collections.c.kind == kind)


def _summary(
    stored: RowMapping, change: Change, before: StoredVersion, version: int
) -> dict[str, int]:
    is_live = change.body is not None
    removed = 0 if before.is_deleted else version_digest(change.id, before.version)
    added = version_digest(change.id, version) if is_live else 0
    return {
        "version": max(stored["version"], version),
        "checksum": add_digests(stored["checksum"], removed=removed, added=added),
        "count": stored["count"] + is_live - (not before.is_deleted),
        "size": stored["size"] + len(change.body or b"") - before.size + change.versions_size,
    }
