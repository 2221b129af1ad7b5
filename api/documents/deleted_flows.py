"""Removes the versions of flows that were deleted a while ago.

They are kept as long as a call may last, as engines do, so that a flow that was deleted by mistake
can be put again and rolled back. The newest one stays until its deletion is removed, without its
body: engines cache versions by number, so a new flow of the same name continues with the next.
"""

from sqlalchemy import and_, delete, func, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from api.documents.collection import Change
from api.documents.collection_store import CollectionStore
from api.documents.tables import documents, flow_versions
from wire.flow import MAX_CALL_S

TOMBSTONE_KEPT_MS = 90 * 86_400_000  # longer than a snapshot of the engines' store is kept
BATCH_SIZE = 500


class DeletedFlows(CollectionStore):
    """What is left of deleted flows, and of other deleted documents."""

    async def remove_versions(self, limit: int = BATCH_SIZE) -> int:
        """Remove the bodies of some deleted flows; returns of how many flows."""
        columns = documents.c
        has_body = and_(
            flow_versions.c.account_id == columns.account_id,
            flow_versions.c.flow_id == columns.id,
            func.length(flow_versions.c.body) > 0,
        )
        query = (
            select(columns.account_id, columns.id)
            .where(columns.kind == "flow", columns.is_deleted)
            .where(columns.changed_ms < self._now_ms() - MAX_CALL_S * 1000)
            .where(select(flow_versions.c.number).where(has_body).exists())
            .limit(limit)
        )
        rows = await self._database.rows(query)
        for account_id, flow_id in rows:
            async with self._database.writing() as connection:
                await self._remove_versions(connection, account_id, flow_id)
        return len(rows)

    async def remove_old_deletions(self) -> int:
        """Remove deletions that are older than any copy of the engines' store; returns how many."""
        columns = documents.c
        old = and_(columns.is_deleted, columns.changed_ms < self._now_ms() - TOMBSTONE_KEPT_MS)
        flows = select(columns.account_id, columns.id).where(old, columns.kind == "flow")
        its_versions = tuple_(flow_versions.c.account_id, flow_versions.c.flow_id).in_(flows)
        async with self._database.writing() as connection:
            await connection.execute(delete(flow_versions).where(its_versions))
            return (await connection.execute(delete(documents).where(old))).rowcount

    async def _remove_versions(
        self, connection: AsyncConnection, account_id: str, flow_id: str
    ) -> None:
        await self._writer.lock(connection, {account_id}, "flow")
        stored = await self._writer.stored(connection, Change(account_id, "flow", flow_id, None))
        if not stored.is_deleted:
            return  # it was put again meanwhile
        columns = flow_versions.c
        its = and_(columns.account_id == account_id, columns.flow_id == flow_id)
        sums = select(func.sum(func.length(columns.body)), func.max(columns.number)).where(its)
        size, last = (await connection.execute(sums)).one()
        await connection.execute(delete(flow_versions).where(its, columns.number < last))
        await connection.execute(update(flow_versions).where(its).values(body=b""))
        await self._writer.shrink(connection, account_id, "flow", size)
