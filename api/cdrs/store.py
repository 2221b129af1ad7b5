"""Reads call records: pages, single records, timelines, clients, totals of agents.

Changes of a call's filtered columns update its marks in every table.
"""

from collections.abc import Callable, Mapping

import msgspec
import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from api.cdrs.query.bloom_marks import signature_bits, signature_mask
from api.cdrs.query.filters import PURPOSES, Filters
from api.cdrs.query.pages import CdrRow, CdrRows, Total, Window, cheapest, count_matches, read_page
from api.cdrs.query.queries import Position
from api.cdrs.row_mapping import cdr_row, participant_numbers
from api.cdrs.tables import agents, bodies, cdrs, clients, events, numbers
from api.db.database import Database
from wire.decoding.messages import decode_message
from wire.events.record import CallRecord

MAX_COUNTED = 10_000
MAX_CODEPOINT = "\U0010ffff"  # sorts after every text with the same prefix
DispositionLevels = Mapping[str, str | None]
Columns = Mapping[str, str | bool | None]


class AgentTotals(Struct, frozen=True):
    """Totals of an agent's calls of one kind."""

    direction: str
    is_answered: bool
    calls: int
    ring_ms: int
    talk_ms: int
    hold_ms: int
    longest_talk_ms: int


class CdrStore(Struct, frozen=True):
    database: Database
    max_counted: int = MAX_COUNTED

    async def page(
        self, filters: Filters, limit: int, offset: int = 0, after: Position | None = None
    ) -> CdrRows:
        """Read a page, newest first."""
        async with self.database.reading() as connection:
            path = await cheapest(connection, filters, self.max_counted)
            return await read_page(connection, filters, path, Window(limit, offset, after))

    async def total(self, filters: Filters) -> Total:
        """Count the matches, within a limit of work."""
        async with self.database.reading() as connection:
            path = await cheapest(connection, filters, self.max_counted)
            return await count_matches(connection, filters, path, self.max_counted)

    async def page_and_total(
        self, filters: Filters, limit: int, offset: int = 0, after: Position | None = None
    ) -> tuple[CdrRows, Total]:
        """Read a page, and count unless it is the last."""
        async with self.database.reading() as connection:
            path = await cheapest(connection, filters, self.max_counted)
            page = await read_page(connection, filters, path, Window(limit, offset, after))
            if after is None and not page.has_more and (page.rows or not offset):
                return page, Total(offset + len(page.rows), is_exact=True)
            return page, await count_matches(connection, filters, path, self.max_counted)

    async def get(self, account_id: str, req_id: str) -> CdrRow | None:
        rows = (await self.page(Filters(account_id, req_id=req_id), 1)).rows
        return rows[0] if rows else None

    async def newest_id(self) -> int:
        """Return the id of the record that was written last."""
        return int(
            await self.database.scalar(sa.select(sa.func.coalesce(sa.func.max(cdrs.c.id), 0)))
        )

    async def timeline(self, account_id: str, req_id: str) -> list[bytes]:
        """Read the events of a call, in order; each is JSON."""
        return (await self.timelines(account_id, [req_id])).get(req_id, [])

    async def timelines(self, account_id: str, req_ids: list[str]) -> dict[str, list[bytes]]:
        """Read the events of several calls."""
        query = (
            sa.select(events.c.call_id, events.c.body)
            .where(events.c.account_id == account_id, events.c.call_id.in_(req_ids))
            .order_by(events.c.call_id, events.c.sequence_number)
        )
        found: dict[str, list[bytes]] = {}
        for call_id, body in await self.database.rows(query):
            found.setdefault(call_id, []).append(body)
        return found

    async def clients(self, account_id: str, prefix: str, limit: int) -> list[str]:
        """Return the client ids with a prefix."""
        query = (
            sa.select(clients.c.client_id)
            .where(
                clients.c.account_id == account_id,
                clients.c.client_id.between(prefix, prefix + MAX_CODEPOINT),
            )
            .order_by(clients.c.client_id)
            .limit(limit)
        )
        return [client_id for (client_id,) in await self.database.rows(query)]

    async def agent_totals(
        self, account_id: str, agent_id: str, start_ms: int, end_ms: int
    ) -> list[AgentTotals]:
        """Sum an agent's calls in a time range, by direction and whether the agent answered."""
        summed = (agents.c.ring_ms, agents.c.talk_ms, agents.c.hold_ms)
        query = (
            sa.select(
                agents.c.direction,
                agents.c.is_answered,
                sa.func.count(),
                *(sa.cast(sa.func.sum(each), sa.BigInteger) for each in summed),
                sa.func.max(agents.c.talk_ms),
            )
            .where(
                agents.c.account_id == account_id,
                agents.c.agent_id == agent_id,
                agents.c.started_ms.between(start_ms, end_ms - 1),
            )
            .group_by(agents.c.direction, agents.c.is_answered)
        )
        return [AgentTotals(*row) for row in await self.database.rows(query)]

    async def mark_recording_deleted(
        self, account_id: str, req_id: str, path: str, region: str | None = None
    ) -> None:
        async with self.database.writing() as connection:
            await mark_recording_deleted(connection, account_id, req_id, path, region)

    async def set_dispositions(
        self, account_id: str, req_id: str, columns: DispositionLevels, region: str | None = None
    ) -> None:
        async with self.database.writing() as connection:
            await set_dispositions(connection, account_id, req_id, columns, region)


async def set_dispositions(
    connection: AsyncConnection,
    account_id: str,
    req_id: str,
    levels: DispositionLevels,
    region: str | None = None,
) -> None:
    """Set the levels of a call; None clears a level."""
    await _change(connection, account_id, req_id, lambda record: (levels, record), region)


async def mark_recording_deleted(
    connection: AsyncConnection, account_id: str, req_id: str, path: str, region: str | None = None
) -> None:
    """Mark a recording of a call as deleted; lists of calls with recordings omit it."""

    def changed(record: CallRecord) -> tuple[Columns, CallRecord]:
        recordings = tuple(
            replace(each, state="deleted") if each.url.endswith(f"/{path}") else each
            for each in record.recordings
        )
        record = replace(record, recordings=recordings)
        row = cdr_row(record, region)
        return {name: row[name] for name in PURPOSES.values()}, record

    await _change(connection, account_id, req_id, changed, region)


async def _change(
    connection: AsyncConnection,
    account_id: str,
    req_id: str,
    change: Callable[[CallRecord], tuple[Columns, CallRecord]],
    region: str | None,
) -> None:
    query = (
        sa.select(cdrs.c.id, cdrs.c.marks, bodies.c.record)
        .join(bodies, bodies.c.cdr_id == cdrs.c.id)
        .where(cdrs.c.account_id == account_id, cdrs.c.req_id == req_id)
        .with_for_update(of=cdrs)  # two requests may set levels at the same time
    )
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        return
    stored = decode_message(row.record, CallRecord)
    columns, record = change(stored)
    signature = row.marks & ~signature_mask(columns) | sum(
        signature_bits(*column) for column in columns.items()
    )
    changed = sa.update(cdrs).where(cdrs.c.id == row.id).values({**columns, "marks": signature})
    await connection.execute(changed)
    if record is not stored:
        body = sa.update(bodies).where(bodies.c.cdr_id == row.id)
        await connection.execute(body.values(record=msgspec.json.encode(record)))
    await connection.execute(
        sa.update(agents).where(agents.c.cdr_id == row.id).values(marks=signature)
    )
    # In the form in which they were stored; the account's region may have changed since.
    written = (participant_numbers(record, each) for each in {region, None})
    is_its = (
        numbers.c.account_id == account_id,
        numbers.c.number.in_({number for each in written for number in each}),
        numbers.c.started_ms == record.created_ms,
        numbers.c.cdr_id == row.id,
    )
    await connection.execute(sa.update(numbers).where(*is_its).values(marks=signature))
