"""What the synchronization reads and writes in the database, of many accounts at a time."""

from collections.abc import Collection, Sequence

import structlog
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import (
    ColumnElement,
    LargeBinary,
    RowMapping,
    and_,
    delete,
    func,
    or_,
    select,
    tuple_,
)

from api.accounts.store import accounts
from api.documents.cipher import UnreadableDocument
from api.documents.collection import Change, CollectionStore, StoredVersion
from api.documents.document import Kind
from api.documents.tables import collections, documents, flow_versions
from wire.documents.versioned import SECRET_KINDS
from wire.flow import MAX_CALL_S

log = structlog.get_logger()
MAX_RECENT_FLOW_VERSIONS = 20
BATCH_SIZE = 500
DELETION_KEPT_MS = MAX_CALL_S * 1000


Place = tuple[int, str, str]  # of a collection: its version, account and kind


class CollectionKey(Struct, frozen=True):
    """What an account has of a kind."""

    account_id: str
    kind: Kind


class CollectionState(Struct, frozen=True):
    """The version of the last change, and the checksum of all versions."""

    version: int = 0
    checksum: int = 0


class SyncedDocument(Struct, frozen=True):
    """A document as of a version; no body: it is deleted.

    With an empty body it cannot be decrypted.
    """

    key: CollectionKey
    id: str
    version: int
    body: bytes | None


class SyncStore(CollectionStore):
    """Reads what is to be sent to engines, and keeps what is stored in order."""

    async def accounts(self, after: str, limit: int) -> list[str]:
        """Return ids of accounts in order, after one of them."""
        query = select(accounts.c.id).where(accounts.c.id > after)
        rows = await self._database.rows(query.order_by(accounts.c.id).limit(limit))
        return [str(each.id) for each in rows]

    async def last_changed(self, before: Place | None, limit: int) -> list[Place]:
        """Return collections by the version of their last change, the newest first."""
        columns = collections.c
        place = (columns.version, columns.account_id, columns.kind)
        query = select(*place).order_by(*(each.desc() for each in place)).limit(limit)
        if before:
            query = query.where(tuple_(*place) < tuple_(*before))
        return [tuple(row) for row in await self._database.rows(query)]

    async def collections(
        self, account_ids: Collection[str]
    ) -> dict[CollectionKey, CollectionState]:
        """Return the state of what some accounts have of each kind."""
        query = select(collections).where(collections.c.account_id.in_(account_ids))
        return {
            CollectionKey(each.account_id, each.kind): CollectionState(each.version, each.checksum)
            for each in await self._database.rows(query)
        }

    async def changes(self, key: CollectionKey, after: int, limit: int) -> list[SyncedDocument]:
        """Return what was stored or deleted after a version, in order."""
        query = (
            select(documents)
            .where(_of(key), documents.c.version > after)
            .order_by(documents.c.version)
            .limit(limit)
        )
        return [self._change(row) for row in await self._database.mappings(query)]

    async def live(
        self, kind: Kind, account_ids: Collection[str], after: tuple[str, str], limit: int
    ) -> list[SyncedDocument]:
        """Return documents of several accounts, by account and id, after one of them."""
        place = tuple_(documents.c.account_id, documents.c.id)
        query = (
            select(documents)
            .where(documents.c.kind == kind, documents.c.account_id.in_(account_ids))
            .where(~documents.c.is_deleted, place > tuple_(*after))
            .order_by(documents.c.account_id, documents.c.id)
            .limit(limit)
        )
        return [self._change(row) for row in await self._database.mappings(query)]

    async def recent_deletions(
        self, kind: Kind, account_ids: Collection[str], limit: int
    ) -> list[SyncedDocument]:
        """Return what some accounts have deleted last, the newest first."""
        query = (
            select(documents)
            .where(documents.c.kind == kind, documents.c.account_id.in_(account_ids))
            .where(documents.c.is_deleted)
            .order_by(documents.c.version.desc())
            .limit(limit)
        )
        return [self._change(row) for row in await self._database.mappings(query)]

    async def versions(self, key: CollectionKey) -> dict[str, StoredVersion]:
        """Return the version of each document, and of each deletion."""
        columns = documents.c
        query = select(columns.id, columns.version, columns.is_deleted).where(_of(key))
        rows = await self._database.rows(query)
        return {each.id: StoredVersion(each.version, each.is_deleted) for each in rows}

    async def read(self, key: CollectionKey, doc_ids: Sequence[str]) -> list[SyncedDocument]:
        """Return documents, or their deletions, by id."""
        query = select(documents).where(_of(key), documents.c.id.in_(doc_ids))
        return [self._change(row) for row in await self._database.mappings(query)]

    async def flow_bodies(
        self, key: CollectionKey, flow_id: str, published: int, since_ms: int
    ) -> list[tuple[int, bytes]]:
        """Return the versions that calls may run: those made since, and at last the published one.

        Engines that store a version remove the one 100 before it, which may be the published one.
        """
        columns = flow_versions.c
        query = (
            select(columns.number, columns.body)
            .where(columns.account_id == key.account_id, columns.flow_id == flow_id)
            .where(columns.is_published)
            .where(or_(columns.number == published, columns.made_ms >= since_ms))
            .order_by((columns.number == published).desc(), columns.number.desc())
            .limit(MAX_RECENT_FLOW_VERSIONS)
        )
        rows = await self._database.rows(query)
        found = [(each.number, bytes(each.body)) for each in rows]
        return sorted(found, key=lambda each: (each[0] == published, each[0]))

    async def encrypt_again(self, limit: int = BATCH_SIZE) -> int:
        """Encrypt documents of earlier secrets with the first one; returns how many."""
        name = self._writer.cipher.key_name
        is_old = func.substr(documents.c.body, 1, len(name), type_=LargeBinary) != name
        query = (
            select(documents)
            .where(documents.c.kind.in_(SECRET_KINDS), ~documents.c.is_deleted, is_old)
            .limit(limit)
        )
        rows = await self._database.mappings(query)
        for row in rows:
            await self._writer.encrypt_again(row)
        return len(rows)

    async def renew(
        self, key: CollectionKey, doc_id: str, version: int, expected: int | None = None
    ) -> StoredVersion:
        """Give what is stored under an id a version above one of the engines; returns it.

        If nothing is stored, it is a deletion. What was changed meanwhile has a higher version, or
        another one than `expected`, and stays as it is.
        """
        async with self._database.writing() as connection:
            await self._writer.lock(connection, {key.account_id}, key.kind)
            change = Change(key.account_id, key.kind, doc_id, None)
            stored = await self._writer.stored(connection, change)
            if stored.version > version or expected not in {None, stored.live_version}:
                return stored
            change = replace(change, body=await self._writer.replaced_body(connection, change))
            now_ms = self._now_ms()
            await self._writer.write(connection, change, now_ms, min_version=version + 1)
            return await self._writer.stored(connection, change)

    async def remove_old_deletions(self) -> None:
        """Remove what was deleted so long ago that no call runs it, and flows with their versions.

        Until then, a flow that is put again has them: engines cache versions by number.
        """
        columns, sizes = documents.c, func.sum(func.length(flow_versions.c.body))
        old = and_(columns.is_deleted, columns.changed_ms < self._now_ms() - DELETION_KEPT_MS)
        async with self._database.writing() as connection:
            deleted = select(columns.account_id, columns.id).where(old, columns.kind == "flow")
            names = tuple_(flow_versions.c.account_id, flow_versions.c.flow_id)
            found = select(flow_versions.c.account_id, sizes).where(names.in_(deleted))
            by_account = found.group_by(flow_versions.c.account_id)
            for account_id, size in (await connection.execute(by_account)).all():
                await self._writer.lock(connection, {account_id}, "flow")
                await self._writer.shrink(connection, account_id, "flow", size)
            await connection.execute(delete(flow_versions).where(names.in_(deleted)))
            await connection.execute(delete(documents).where(old))

    def _change(self, row: RowMapping) -> SyncedDocument:
        body = None
        if not row["is_deleted"]:
            try:
                body = self._writer.document(row).body
            except UnreadableDocument as error:
                log.error("document not read", reason=error.detail)  # noqa: TRY400 - no bug
                body = b""
        key = CollectionKey(row["account_id"], row["kind"])
        return SyncedDocument(key, row["id"], row["version"], body)


def _of(key: CollectionKey) -> ColumnElement[bool]:
    return and_(documents.c.account_id == key.account_id, documents.c.kind == key.kind)
