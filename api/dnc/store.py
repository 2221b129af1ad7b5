"""Do-not-call lists, changed one by one or by the thousand, and read as changes."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import case, exists, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.clock import Clock
from api.db.database import Database
from api.dnc.tables import entries, lists


class Change(Struct, frozen=True):
    """A number that has come onto a list or is off it, and the version with which it did."""

    version: int
    number: str
    is_listed: bool


class ListVersions(Struct, frozen=True):
    """From which version to which a list goes; 0 and 0: there is none."""

    since: int = 0
    version: int = 0


class DncStore:
    """What is kept of lists."""

    def __init__(self, database: Database, now_ms: Clock) -> None:
        self._database = database
        self._now_ms = now_ms
        self._insert: Any = sqlite.insert if database.is_sqlite else postgresql.insert

    async def put(
        self, account_id: str, numbers: Iterable[str], provider: str, *, is_active: bool = True
    ) -> None:
        """Keep a provider's entries, active or not; each number is a change of its own."""
        several = list(dict.fromkeys(numbers))
        if not several:
            return
        async with self._database.writing() as connection:
            last = await self._grown(connection, account_id, len(several))
            same = {
                "account_id": account_id,
                "provider": provider,
                "is_active": is_active,
                "changed_ms": self._now_ms(),
            }
            first = last - len(several) + 1
            rows = [{**same, "number": n, "version": v} for v, n in enumerate(several, first)]
            await connection.execute(self._kept(), rows)

    async def remove(self, account_id: str, number: str, provider: str) -> None:
        """Make a provider's entry inactive, if there is one."""
        entry = (
            entries.c.account_id == account_id,
            entries.c.number == number,
            entries.c.provider == provider,
            entries.c.is_active,
        )
        async with self._database.writing() as connection:
            if (await connection.execute(select(entries.c.number).where(*entry))).first() is None:
                return
            version = await self._grown(connection, account_id, 1)
            values = {"is_active": False, "version": version, "changed_ms": self._now_ms()}
            await connection.execute(update(entries).where(*entry).values(values))

    async def extents(self) -> dict[str, ListVersions]:
        """Tell how far each list has come; accounts without one are left out."""
        async with self._database.reading() as connection:
            rows = await connection.execute(select(lists))
            return {each.account_id: ListVersions(each.since, each.version) for each in rows}

    async def extent(self, account_id: str) -> ListVersions:
        """Tell how far an account's list has come."""
        query = select(lists.c.since, lists.c.version).where(lists.c.account_id == account_id)
        async with self._database.reading() as connection:
            row = (await connection.execute(query)).first()
        return ListVersions(*row) if row else ListVersions()

    async def changes(self, account_id: str, after: int, until: int, most: int) -> Sequence[Change]:
        """Read the changes after a version, in order; from the beginning, only what is listed."""
        active = entries.alias("active")
        listed = exists().where(
            active.c.account_id == entries.c.account_id,
            active.c.number == entries.c.number,
            active.c.is_active,
        )
        query = (
            select(entries.c.version, entries.c.number, listed)
            .where(
                entries.c.account_id == account_id,
                entries.c.version > after,
                entries.c.version <= until,
            )
            .order_by(entries.c.version)
            .limit(most)
        )
        if not after:
            query = query.where(entries.c.is_active)
        async with self._database.reading() as connection:
            return [Change(*row) for row in await connection.execute(query)]

    def _kept(self) -> Any:
        added = self._insert(entries)
        names = ("is_active", "version", "changed_ms")
        return added.on_conflict_do_update(
            index_elements=["account_id", "number", "provider"],
            set_={name: added.excluded[name] for name in names},
        )

    async def _grown(self, connection: AsyncConnection, account_id: str, by: int) -> int:
        """Count changes; the row is locked from here on, so versions are committed in order.

        They are times at least: a database that was made or put back anew has others than before.
        """
        next_one, now_ms = lists.c.version + by, self._now_ms()
        row = {"account_id": account_id, "since": now_ms - by, "version": now_ms}
        added = self._insert(lists).values(row)
        later = case((next_one > now_ms, next_one), else_=now_ms)
        grown = added.on_conflict_do_update(index_elements=["account_id"], set_={"version": later})
        counted = await connection.execute(grown.returning(lists.c.version))
        return int(counted.scalar_one())
