"""Do-not-call lists in the database: changed singly or in bulk, read as a change log.

Engines follow their changes by versions.

A number is on a list while any of its entries (one per provider) is active. A removed entry stays
as an inactive row, so that each change has a row with its version.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy import case, exists, func, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from api.db.database import Store, metadata
from api.db.row_quota import RowLimit

Account = sa.String(64)
MAX_REFUSAL_CHARS = 200
REFUSED = sa.text("refusal <> ''")
tokens = sa.Table(
    "dnc_tokens",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("account_id", Account, sa.ForeignKey("accounts.id"), nullable=False, index=True),
    sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
)
lists = sa.Table(
    "dnc_lists",
    metadata,
    sa.Column("account_id", Account, sa.ForeignKey("accounts.id"), primary_key=True),
    sa.Column("since", sa.BigInteger, nullable=False),  # before its first change
    sa.Column("version", sa.BigInteger, nullable=False),  # of its last change
)
entries = sa.Table(
    "dnc_entries",
    metadata,
    sa.Column("account_id", Account, sa.ForeignKey("accounts.id"), primary_key=True),
    sa.Column("number", sa.String(16), primary_key=True),
    sa.Column("provider", sa.String(64), primary_key=True),
    sa.Column("is_active", sa.Boolean, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("changed_ms", sa.BigInteger, nullable=False),
    # Why engines refuse the number; empty: they do not. Refused entries are not sent again.
    sa.Column("refusal", sa.String(MAX_REFUSAL_CHARS), nullable=False, server_default=""),
    sa.Index("ix_dnc_entries_account_id_version", "account_id", "version"),
    # In the order of a list, by its filter: one that few entries match reads no others.
    sa.Index("ix_dnc_entries_is_active", "account_id", "is_active", "number", "provider"),
    sa.Index(
        "ix_dnc_entries_refused", "account_id", sqlite_where=REFUSED, postgresql_where=REFUSED
    ),
)
BATCH_ROWS = 500  # some ms, during which no other account writes to SQLite


class Change(Struct, frozen=True):
    """A number that was put on a list or taken off, and the version of the change."""

    version: int
    number: str
    is_listed: bool


class ListVersions(Struct, frozen=True):
    """The versions that a list covers; 0 and 0: there is no list."""

    since: int = 0
    version: int = 0


class StoredEntry(Struct, frozen=True):
    """A provider's entry of a number; engines that refuse it, and why: `refusal`."""

    number: str
    provider: str
    is_active: bool
    changed_ms: int
    version: int
    refusal: str


class EntryFilter(Struct, frozen=True):
    """Which entries to list; None: all. `after` is the last number and provider before them."""

    number: str | None = None
    is_active: bool | None = None
    after: tuple[str, str] | None = None


def entry_limit(most: int) -> RowLimit:
    """Return the limit of the entries that an account makes; an operator's may be more."""
    what = "a do-not-call list has at most {:,} entries, with those that were taken off"
    return RowLimit(entries.c.account_id, most, what, "SWITCHROOM_MAX_DNC_ENTRIES")


class DncStore(Store):
    async def put(
        self, account_id: str, numbers: Iterable[str], provider: str, *, is_active: bool = True
    ) -> None:
        """Store a provider's entries, active or not; each number is a change of its own."""
        distinct = list(dict.fromkeys(numbers))
        for at in range(0, len(distinct), BATCH_ROWS):
            batch = distinct[at : at + BATCH_ROWS]
            await self._put(account_id, batch, provider, is_active=is_active)

    async def _put(
        self, account_id: str, distinct: Sequence[str], provider: str, *, is_active: bool
    ) -> None:
        async with self._database.writing() as connection:
            last = await self._next_version(connection, account_id, len(distinct))
            common = {
                "account_id": account_id,
                "provider": provider,
                "is_active": is_active,
                "changed_ms": self._now_ms(),
                "refusal": "",
            }
            first = last - len(distinct) + 1
            rows = [{**common, "number": n, "version": v} for v, n in enumerate(distinct, first)]
            await connection.execute(self._upsert(), rows)

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
            version = await self._next_version(connection, account_id, 1)
            values = {"is_active": False, "version": version, "changed_ms": self._now_ms()}
            await connection.execute(update(entries).where(*entry).values(values))

    async def set_aside(self, account_id: str, reasons: Mapping[str, str]) -> None:
        """Store why engines refuse numbers; they are not sent until they are put again."""
        async with self._database.writing() as connection:
            for number, reason in reasons.items():
                refused = (entries.c.account_id == account_id, entries.c.number == number)
                values = {"refusal": reason[:MAX_REFUSAL_CHARS]}
                await connection.execute(update(entries).where(*refused).values(values))

    async def forget_refusals(self) -> None:
        """Let all refused entries be sent again."""
        async with self._database.writing() as connection:
            await connection.execute(update(entries).where(REFUSED).values(refusal=""))

    async def count_refused(self) -> int:
        """Return how many active entries engines refuse."""
        query = select(func.count()).select_from(entries).where(REFUSED, entries.c.is_active)
        return int(await self._database.scalar(query))

    async def count_after(self, account_id: str, version: int) -> int:
        """Return how many entries of a list have changed after a version."""
        changed = (entries.c.account_id == account_id, entries.c.version > version)
        query = select(func.count()).select_from(entries).where(*changed)
        return int(await self._database.scalar(query))

    async def get(self, account_id: str, number: str, provider: str) -> StoredEntry | None:
        """Return a provider's entry; None: the number was never on its list."""
        columns = [entries.c[name] for name in StoredEntry.__struct_fields__]
        query = select(*columns).where(
            entries.c.account_id == account_id,
            entries.c.number == number,
            entries.c.provider == provider,
        )
        rows = await self._database.rows(query)
        return StoredEntry(*rows[0]) if rows else None

    async def page(
        self, account_id: str, filters: EntryFilter, limit: int
    ) -> Sequence[StoredEntry]:
        """Return entries in the order of numbers and providers."""
        columns = entries.c
        query = (
            select(*(columns[name] for name in StoredEntry.__struct_fields__))
            .where(columns.account_id == account_id)
            .order_by(columns.number, columns.provider)
            .limit(limit)
        )
        if filters.number is not None:
            query = query.where(columns.number == filters.number)
        if filters.is_active is not None:
            query = query.where(columns.is_active == filters.is_active)
        if filters.after is not None:
            query = query.where(tuple_(columns.number, columns.provider) > filters.after)
        return [StoredEntry(*row) for row in await self._database.rows(query)]

    async def all_versions(self) -> dict[str, ListVersions]:
        """Return the versions of each account's list; accounts without one are absent."""
        rows = await self._database.rows(select(lists))
        return {each.account_id: ListVersions(each.since, each.version) for each in rows}

    async def versions(self, account_id: str) -> ListVersions:
        query = select(lists.c.since, lists.c.version).where(lists.c.account_id == account_id)
        rows = await self._database.rows(query)
        return ListVersions(*rows[0]) if rows else ListVersions()

    async def changes(
        self, account_id: str, after: int, until: int, limit: int
    ) -> Sequence[Change]:
        """Return the changes after a version, in order; after version 0, only active entries.

        Entries that engines refuse are left out.
        """
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
                entries.c.refusal == "",
            )
            .order_by(entries.c.version)
            .limit(limit)
        )
        if not after:
            query = query.where(entries.c.is_active)
        return [Change(*row) for row in await self._database.rows(query)]

    def _upsert(self) -> Any:
        added = self._database.insert(entries)
        names = ("is_active", "version", "changed_ms", "refusal")
        return added.on_conflict_do_update(
            index_elements=["account_id", "number", "provider"],
            set_={name: added.excluded[name] for name in names},
        )

    async def _next_version(self, connection: AsyncConnection, account_id: str, by: int) -> int:
        """Reserve versions, and return the last one; the row stays locked until the commit.

        Versions are therefore committed in order. They are not less than the time in ms, so that a
        database that is recreated or restored does not reuse earlier ones.
        """
        following, now_ms = lists.c.version + by, self._now_ms()
        row = {"account_id": account_id, "since": now_ms - by, "version": now_ms}
        added = self._database.insert(lists).values(row)
        version = case((following > now_ms, following), else_=now_ms)
        upsert = added.on_conflict_do_update(
            index_elements=["account_id"], set_={"version": version}
        )
        result = await connection.execute(upsert.returning(lists.c.version))
        return int(result.scalar_one())
