"""How much an account has used on each day (UTC): calls, legs, their minutes, messages.

Sums that are added to when a record is first written: they stay when records are deleted, and a
year of an account is 366 rows, however many calls it had.
"""

from collections.abc import Iterable

import sqlalchemy as sa
from msgspec import Struct, structs
from sqlalchemy.ext.asyncio import AsyncConnection

from api.db.columns import Millis, Text
from api.db.database import INSERTS, Store, metadata

DAY_MS = 86_400_000
SUMS = ("calls", "answered_calls", "legs", "talk_ms", "messages")

usage_days = sa.Table(
    "usage_days",
    metadata,
    sa.Column("account_id", Text(64), primary_key=True),
    sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),  # since 1970-01-01
    sa.Column("calls", sa.BigInteger, nullable=False),
    sa.Column("answered_calls", sa.BigInteger, nullable=False),
    sa.Column("legs", sa.BigInteger, nullable=False),
    sa.Column("talk_ms", Millis, nullable=False),
    sa.Column("messages", sa.BigInteger, nullable=False),
    sqlite_with_rowid=False,
)


class Usage(Struct, frozen=True):
    """What an account has used on a day; `talk_ms` is the sum over its legs, also on hold."""

    account_id: str
    day: int
    calls: int = 0
    answered_calls: int = 0
    legs: int = 0
    talk_ms: int = 0
    messages: int = 0


async def add_usage(connection: AsyncConnection, used: Iterable[Usage]) -> None:
    """Add to the sums, within a transaction; always in the same order, so that none deadlocks."""
    sums: dict[tuple[str, int], Usage] = {}
    for each in used:
        key = (each.account_id, each.day)
        sums[key] = plus(sums[key], each) if key in sums else each
    if not sums:
        return
    insert = INSERTS[connection.dialect.name](usage_days)
    added = {name: usage_days.c[name] + insert.excluded[name] for name in SUMS}
    keys = [usage_days.c.account_id, usage_days.c.day]
    rows = [structs.asdict(sums[key]) for key in sorted(sums)]
    await connection.execute(insert.on_conflict_do_update(index_elements=keys, set_=added), rows)


def plus(one: Usage, other: Usage) -> Usage:
    """Return the sum of what was used on the day of the first."""
    sums = {name: getattr(one, name) + getattr(other, name) for name in SUMS}
    return structs.replace(one, **sums)


class UsageStore(Store):
    async def days(self, account_id: str, first: int, last: int) -> list[Usage]:
        """Return the days on which an account has used something, oldest first."""
        query = (
            sa.select(usage_days)
            .where(usage_days.c.account_id == account_id, usage_days.c.day.between(first, last))
            .order_by(usage_days.c.day)
        )
        return [Usage(**row) for row in await self._database.mappings(query)]

    async def add_message(self, account_id: str) -> None:
        """Count a message that is sent now."""
        async with self._database.writing() as connection:
            await add_usage(connection, [Usage(account_id, self.today(), messages=1)])

    def today(self) -> int:
        return self._now_ms() // DAY_MS
