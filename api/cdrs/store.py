"""Reads call records: pages, single records, timelines, clients, totals of agents."""

import sqlalchemy as sa
from msgspec import Struct

from api.cdrs.ingest.dispositions import (
    DispositionLevels,
    mark_recording_deleted,
    set_dispositions,
)
from api.cdrs.query.filters import Filters
from api.cdrs.query.pages import CdrRow, CdrRows, Total, Window, cheapest, count_matches, read_page
from api.cdrs.query.queries import Position
from api.cdrs.tables import agents, cdrs, clients, events
from api.db.database import Database

MAX_COUNTED = 10_000
MAX_CODEPOINT = "\U0010ffff"  # sorts after every text with the same prefix


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
