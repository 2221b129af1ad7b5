"""The number of live calls of each account: one count for all processes, in the database.

Each new call increments it. Once a second, the count is replaced by the number of calls that the
engines list. A call that is being requested from an engine may or may not be among these, so
pending requests are stored and added: the count may be too high for a moment, never too low.
"""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from api.db.columns import Key, Millis
from api.db.database import INSERTS, Store, metadata

COUNT_TTL_MS = 1_000
PENDING_TTL_MS = 30_000  # longer than the timeout of requests to engines

counts = sa.Table(
    "call_counts",
    metadata,
    sa.Column("account_id", sa.ForeignKey("accounts.id"), primary_key=True),
    sa.Column("live", sa.Integer, nullable=False),
    sa.Column("until_ms", Millis, nullable=False),
)
pending_calls = sa.Table(
    "calls_asked_for",
    metadata,
    sa.Column("id", Key, primary_key=True, autoincrement=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id"), nullable=False, index=True),
    sa.Column("until_ms", Millis, nullable=False),
)


class LiveCalls(Store):
    """Counts the live calls of all processes."""

    async def reserve(self, account_id: str, max_calls: int) -> int | None:
        """Count a call that is being requested; return the reservation to release.

        None if the limit is reached, or the count is out of date.
        """
        now_ms = self._now_ms()
        is_free = sa.and_(counts.c.until_ms > now_ms, counts.c.live < max_calls)
        increment = (
            sa.update(counts)
            .where(counts.c.account_id == account_id, is_free)
            .values(live=counts.c.live + 1)
        )
        pending = sa.insert(pending_calls).values(
            account_id=account_id, until_ms=now_ms + PENDING_TTL_MS
        )
        async with self._database.writing() as connection:
            if not (await connection.execute(increment)).rowcount:
                return None
            added = await connection.execute(pending.returning(pending_calls.c.id))
            return int(added.scalar_one())

    async def release(self, reservation: int) -> None:
        """Delete a reservation: an engine has responded, and lists the call if it exists."""
        ours = pending_calls.c.id == reservation
        await self._database.execute(sa.delete(pending_calls).where(ours))

    async def is_current(self, account_id: str) -> bool:
        """Return whether the count was replaced within the last second."""
        query = sa.select(counts.c.until_ms).where(counts.c.account_id == account_id)
        until_ms = await self._database.scalar(query)
        return until_ms is not None and until_ms > self._now_ms()

    async def pending(self, account_id: str) -> int:
        """Count the pending requests; call this before the query for the engines' calls.

        Requests that ended earlier are then in the engines' lists.
        """
        query = sa.select(sa.func.count()).where(
            pending_calls.c.account_id == account_id, pending_calls.c.until_ms > self._now_ms()
        )
        return int(await self._database.scalar(query))

    async def set_count(self, account_id: str, live: int) -> None:
        """Replace an outdated count; a current one stays, as calls are being admitted with it."""
        now_ms = self._now_ms()
        row = {"account_id": account_id, "live": live, "until_ms": now_ms + COUNT_TTL_MS}
        async with self._database.writing() as connection:
            insert = INSERTS[connection.dialect.name](counts).values(row)
            is_outdated = counts.c.until_ms <= now_ms
            await connection.execute(
                insert.on_conflict_do_update(
                    index_elements=[counts.c.account_id], set_=row, where=is_outdated
                )
            )
            await _delete_expired(connection, account_id, now_ms)


async def _delete_expired(connection: AsyncConnection, account_id: str, now_ms: int) -> None:
    """Delete the reservations of processes that died."""
    ours = pending_calls.c.account_id == account_id
    await connection.execute(
        sa.delete(pending_calls).where(ours, pending_calls.c.until_ms <= now_ms)
    )
