"""Documents of accounts in the database: the source of truth, from which engines are filled."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from sqlalchemy import ColumnElement, Subquery, and_, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.errors import NotFound
from api.db.page_bytes import fits_page, sized_page
from api.documents.collection import Change, CollectionStore, is_live
from api.documents.document import SUMMARIZED, Document, Kind
from api.documents.tables import collections, documents
from api.http.paging import Page

CheckOwner = Callable[[AsyncConnection], Awaitable[None]]  # raises an ApiError


class _OwnerChanged(Exception):
    """Another account has put a route of the same number meanwhile."""


class DocumentStore(CollectionStore):
    """Stores documents with a version each; flows have a store of their own, `FlowStore`.

    `expected` is the version that a change is made to: 0, there must be no document; None, any.
    """

    async def put(  # noqa: PLR0913 - the document, and what it depends on
        self,
        account_id: str,
        kind: Kind,
        doc_id: str,
        body: bytes,
        *,
        expected: int | None = None,
        check_owner: CheckOwner | None = None,
    ) -> Document:
        """Store a document; raises PreconditionFailed, Conflict, and NotFound without the account.

        A number's route replaces that of another account, which had the number before: whether a
        number is the account's is for `check_owner`, which runs within the transaction.
        """
        change = Change(account_id, kind, doc_id, body)
        while True:
            owner = await self.owner(kind, doc_id) if kind == "route" else None
            try:
                async with self._database.writing() as connection:
                    await self._writer.lock(connection, {account_id, owner or account_id}, kind)
                    if check_owner:
                        await check_owner(connection)
                    await self._writer.check(connection, change, expected)
                    return await self._put(connection, change, owner)
            except (_OwnerChanged, IntegrityError):
                continue

    async def delete(
        self, account_id: str, kind: Kind, doc_id: str, *, expected: int | None = None
    ) -> Document:
        """Delete a document, and return its deletion; raises NotFound, PreconditionFailed."""
        change = Change(account_id, kind, doc_id, None)
        async with self._database.writing() as connection:
            await self._writer.lock(connection, {account_id}, kind)
            if not await self._writer.check(connection, change, expected):
                raise NotFound(f"no {kind} {doc_id}")
            await self._before_write(connection, change)
            return await self._writer.write(connection, change, self._now_ms())

    async def get(self, account_id: str, kind: Kind, doc_id: str) -> Document:
        """Return a document; raises NotFound."""
        found = await self.read(account_id, kind, [doc_id])
        if not found:
            raise NotFound(f"no {kind} {doc_id}")
        return found[doc_id]

    async def read(
        self, account_id: str, kind: Kind, doc_ids: Sequence[str]
    ) -> Mapping[str, Document]:
        """Return those of some documents that exist, by id."""
        query = select(documents).where(is_live(account_id, kind), documents.c.id.in_(doc_ids))
        rows = await self._database.mappings(query)
        return {row["id"]: self._writer.document(row) for row in rows}

    async def page(
        self, account_id: str, kind: Kind, page: Page, prefix: str = ""
    ) -> tuple[list[Document], int]:
        """Return documents whose ids begin with a prefix, by id, and how many there are.

        The body of an API request is its summary.
        """
        found = and_(is_live(account_id, kind), *_begins_with(prefix))
        if prefix:
            query = select(func.count()).select_from(documents).where(found)
            total = int(await self._database.scalar(query))
        else:
            total = await self.count(account_id, kind)
        limit = min(page.limit, total - page.offset)
        if limit <= 0:
            return [], total
        # From the nearer end, and ids first: no body of a skipped document is read.
        is_near_end = page.offset > total // 2
        order = documents.c.id.desc() if is_near_end else documents.c.id
        offset = total - page.offset - limit if is_near_end else page.offset
        ids = select(documents.c.id).where(found).order_by(order).limit(limit).offset(offset)
        names = await self._fitting(account_id, kind, ids.subquery())
        if not names:
            return [], total
        # A range, as PostgreSQL without statistics does not look ids up in the index.
        page_range = and_(found, documents.c.id.between(min(names), max(names)))
        is_summary = kind == SUMMARIZED
        unread = documents.c.body if is_summary else documents.c.summary
        columns = [each for each in documents.c if each is not unread]
        rows = await self._database.mappings(select(*columns).where(page_range))
        by_id = {row["id"]: row for row in rows}
        read = self._writer.summary if is_summary else self._writer.document
        return [read(by_id[name]) for name in sorted(names) if name in by_id], total

    async def _fitting(self, account_id: str, kind: Kind, ids: Subquery) -> list[str]:
        """Return the ids of a page, which ends after some megabytes."""
        same = and_(is_live(account_id, kind), documents.c.id == ids.c.id)
        size = func.length(documents.c.summary) if kind == SUMMARIZED else documents.c.size
        sized = sized_page(ids, ids.join(documents, same), size, lambda sized: [sized.c.id])
        rows = await self._database.rows(select(sized.c.id).where(fits_page(sized)))
        return [str(each.id) for each in rows]

    async def sizes(self, account_id: str, kind: Kind, doc_ids: Sequence[str]) -> Mapping[str, int]:
        """Return the sizes of those of some documents that exist, in bytes."""
        query = select(documents.c.id, documents.c.size).where(
            is_live(account_id, kind), documents.c.id.in_(doc_ids)
        )
        return {row.id: row.size for row in await self._database.rows(query)}

    async def count(self, account_id: str, kind: Kind) -> int:
        """Return how many documents an account has."""
        query = select(collections.c.count).where(
            collections.c.account_id == account_id, collections.c.kind == kind
        )
        return int(await self._database.scalar(query) or 0)

    async def owner(self, kind: Kind, doc_id: str) -> str | None:
        """Return the account that has a document of a kind whose ids are unique over accounts."""
        query = select(documents.c.account_id).where(
            documents.c.kind == kind, documents.c.id == doc_id, ~documents.c.is_deleted
        )
        rows = await self._database.rows(query)
        return str(rows[0].account_id) if rows else None

    async def _put(
        self, connection: AsyncConnection, change: Change, owner: str | None
    ) -> Document:
        now_ms, min_version = self._now_ms(), 0
        if owner not in {None, change.account_id}:
            moved = Change(owner, change.kind, change.id, None)
            if not await self._writer.check(connection, moved, None):
                raise _OwnerChanged
            min_version = (await self._writer.write(connection, moved, now_ms)).version + 1
        await self._before_write(connection, change)
        return await self._writer.write(connection, change, now_ms, min_version=min_version)

    async def _before_write(self, connection: AsyncConnection, change: Change) -> None:
        """Write what goes with a change, in its transaction: here nothing."""


def _begins_with(prefix: str) -> list[ColumnElement[bool]]:
    """Return the range of ids with a prefix, which an index finds on both databases."""
    if not prefix:
        return []
    after = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    return [documents.c.id >= prefix, documents.c.id < after]
