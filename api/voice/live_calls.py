"""How many live calls an account has: one count for all processes, in the database.

Whoever begins a call takes a place. Each second the count is taken anew from what engines show. A
call that an engine is just being asked for may or may not be among those, so these are noted, and
counted beside them: rather one too many than one too few.
"""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.clock import Clock
from api.db.columns import Key, Millis
from api.db.database import INSERTS, Database, metadata

COUNT_TTL_MS = 1_000
PENDING_MS = 30_000  # longer than any engine is waited for: who notes it may die meanwhile

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


class LiveCalls:
    """Counts live calls, of all processes together."""

    def __init__(self, database: Database, now_ms: Clock) -> None:
        self._database = database
        self._now_ms = now_ms

    async def reserve(self, account_id: str, most: int) -> int | None:
        """Take a place, and note a call that is asked for; None if none is free, or none is known.

        Gives what `answered` is told when an engine has answered.
        """
        now_ms = self._now_ms()
        is_free = sa.and_(counts.c.until_ms > now_ms, counts.c.live < most)
        taken = (
            sa.update(counts)
            .where(counts.c.account_id == account_id, is_free)
            .values(live=counts.c.live + 1)
        )
        note = sa.insert(pending_calls).values(account_id=account_id, until_ms=now_ms + PENDING_MS)
        async with self._database.writing() as connection:
            if not (await connection.execute(taken)).rowcount:
                return None
            noted = await connection.execute(note.returning(pending_calls.c.id))
            return int(noted.scalar_one())

    async def release(self, noted: int) -> None:
        """Forget that a call is asked for: engines show it now, if there is one."""
        async with self._database.writing() as connection:
            await connection.execute(sa.delete(pending_calls).where(pending_calls.c.id == noted))

    async def is_current(self, account_id: str) -> bool:
        """Tell whether a count was taken within the last second."""
        query = sa.select(counts.c.until_ms).where(counts.c.account_id == account_id)
        async with self._database.reading() as connection:
            until_ms = (await connection.execute(query)).scalar_one_or_none()
        return until_ms is not None and until_ms > self._now_ms()

    async def pending(self, account_id: str) -> int:
        """Count the calls that are asked for; to be known before engines are asked what they show.

        Of what was answered before that they show all.
        """
        query = sa.select(sa.func.count()).where(
            pending_calls.c.account_id == account_id, pending_calls.c.until_ms > self._now_ms()
        )
        async with self._database.reading() as connection:
            return int((await connection.execute(query)).scalar_one())

    async def set_count(self, account_id: str, live: int) -> None:
        """Begin a second with a count, unless somebody has: calls are let in upon theirs."""
        now_ms = self._now_ms()
        row = {"account_id": account_id, "live": live, "until_ms": now_ms + COUNT_TTL_MS}
        async with self._database.writing() as connection:
            insert = INSERTS[connection.dialect.name](counts).values(row)
            is_old = counts.c.until_ms <= now_ms
            await connection.execute(
                insert.on_conflict_do_update(
                    index_elements=[counts.c.account_id], set_=row, where=is_old
                )
            )
            await _forget(connection, account_id, now_ms)


async def _forget(connection: AsyncConnection, account_id: str, now_ms: int) -> None:
    """Forget the calls of processes that died."""
    its = pending_calls.c.account_id == account_id
    await connection.execute(
        sa.delete(pending_calls).where(its, pending_calls.c.until_ms <= now_ms)
    )
