"""Queries and changes of call records."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Self

from msgspec import Struct

from api.accounts.cache import AccountCache
from api.auth.principal import Principal
from api.cdrs.exports import KIND, CdrExporter, ExportService
from api.cdrs.live_events import LiveEvents
from api.cdrs.query.filters import Filters
from api.cdrs.query.pages import CdrRow, CdrRows, Total, decode_cursor, encode_cursor
from api.cdrs.query.queries import Position
from api.cdrs.schemas import (
    CdrListQuery,
    CustomerHistoryQuery,
    DispositionRequest,
    own_agent,
    to_filters,
)
from api.cdrs.sse_filter import EventIdCipher
from api.cdrs.store import CdrStore
from api.cdrs.timeline import record_timeline
from api.cdrs.views import NO_TRANSCRIPTS, CdrView, SignUrl, cdr_view
from api.common.account_concurrency import LimitedSlots
from api.common.clock import Clock
from api.common.errors import NotFound
from api.common.timestamps import format_ms
from api.http.event_stream import reader_limit
from api.http.paging import in_pieces
from api.http.services import CommonServices
from api.jobs.artifacts import ArtifactStore, ArtifactWriter, ByteQuota
from api.jobs.worker import Handler
from api.transcripts.store import States, TranscriptStore
from wire.decoding.errors import BadInput
from wire.phone_numbers.e164 import canonical

MAX_CLIENTS = 100
DAY_MS = 86_400_000


class CdrPage(Struct, frozen=True, rename="camel"):
    """A page, newest first; an inexact total is a lower bound."""

    data: tuple[CdrView, ...]
    total: int
    total_is_exact: bool
    limit: int
    offset: int
    next_cursor: str | None


class ClientIds(Struct, frozen=True, rename="camel"):
    """Client ids in order; with `hasMore`, a longer prefix finds the others."""

    data: tuple[str, ...]
    has_more: bool


class TodayStats(Struct, frozen=True, rename="camel"):
    """The calls of an agent, with the agent's own times, in milliseconds."""

    agent_id: str
    start_time: str
    end_time: str
    total: int
    answered: int
    missed: int
    inbound: int
    outbound: int
    ring_ms: int
    talk_ms: int
    hold_ms: int
    average_talk_ms: int
    longest_talk_ms: int


class CdrService(Struct, frozen=True):
    cdrs: CdrStore
    accounts: AccountCache
    transcripts: TranscriptStore
    sign_url: SignUrl
    slots: LimitedSlots
    now_ms: Clock

    async def list(self, user: Principal, query: CdrListQuery) -> CdrPage:
        """Return a page of calls that match."""
        after = _position(query)
        filters = to_filters(user, query, await self.accounts.region(user.account_id))
        return await self._page(user, *await self._search(filters, query, after), query)

    async def history(self, user: Principal, query: CustomerHistoryQuery) -> CdrPage:
        """Return a page of the calls in which a number took part."""
        after = _position(query)
        region = await self.accounts.region(user.account_id)
        number = canonical(query.number, region)
        filters = Filters(user.account_id, number=number, agent_id=own_agent(user))
        return await self._page(user, *await self._search(filters, query, after), query)

    async def get(self, user: Principal, req_id: str) -> CdrView:
        """Return a record with its timeline; raises NotFound."""
        row = await self.cdrs.get(user.account_id, req_id) if req_id.isprintable() else None
        if row is None:
            raise NotFound("no call record of this id")
        timeline = await self.cdrs.timeline(user.account_id, req_id)
        transcripts = await self._transcripts(user, [row])
        view = cdr_view(row, timeline, self._signer(user), transcripts)
        agent = user.only_agent("cdr")
        if agent and agent not in {each.agent_id for each in view.agents}:
            raise NotFound("no call record of this id")
        return view

    async def timeline(self, user: Principal, req_id: str) -> bytes | None:
        """Return the timeline of a record, in the shape of a call's; None: there is none."""
        try:
            view = await self.get(user, req_id)
        except NotFound:
            return None
        is_agent = user.only_agent("cdr") is not None
        return record_timeline(view, "agent" if is_agent else "account")

    async def set_dispositions(
        self, user: Principal, req_id: str, body: DispositionRequest
    ) -> CdrView:
        """Set the dispositions of a call, and return its record."""
        await self.get(user, req_id)
        if columns := body.columns():
            region = await self.accounts.region(user.account_id)
            await self.cdrs.set_dispositions(user.account_id, req_id, columns, region)
        return await self.get(user, req_id)

    async def today(self, account_id: str, agent_id: str) -> TodayStats:
        """Return today's statistics of an agent."""
        return await today_stats(self.cdrs, account_id, agent_id, self.now_ms())

    async def clients(self, account_id: str, prefix: str) -> ClientIds:
        """Return the client ids with a prefix."""
        found = await self.cdrs.clients(account_id, prefix, MAX_CLIENTS + 1)
        return ClientIds(tuple(found[:MAX_CLIENTS]), len(found) > MAX_CLIENTS)

    async def _search(
        self, filters: Filters, query: CdrListQuery | CustomerHistoryQuery, after: Position | None
    ) -> tuple[CdrRows, Total]:
        async with AsyncExitStack() as stack:
            if len(filters.names) > 1:
                await stack.enter_async_context(self.slots.slot(filters.account_id))
            return await self.cdrs.page_and_total(filters, query.limit, query.offset, after)

    def _signer(self, user: Principal) -> SignUrl | None:
        """Return what signs addresses: for those who may read recordings only."""
        return self.sign_url if "recordings" in user.scopes else None

    async def _transcripts(self, user: Principal, rows: Sequence[CdrRow]) -> States:
        if "recordings" not in user.scopes or not rows:
            return NO_TRANSCRIPTS
        return await self.transcripts.states(user.account_id, [row.req_id for row in rows])

    async def _page(
        self,
        user: Principal,
        found: CdrRows,
        total: Total,
        query: CdrListQuery | CustomerHistoryQuery,
    ) -> CdrPage:
        rows, offset = found.rows, query.offset
        seen, sign = offset + len(rows) + found.has_more, self._signer(user)
        transcripts = await self._transcripts(user, rows)
        views = await in_pieces(lambda row: cdr_view(row, None, sign, transcripts), rows)
        return CdrPage(
            data=tuple(views),
            total=max(total.count, seen if rows else 0),
            total_is_exact=total.is_exact,
            limit=query.limit,
            offset=offset,
            next_cursor=encode_cursor(rows[-1].position) if found.has_more else None,
        )


def _position(query: CdrListQuery | CustomerHistoryQuery) -> Position | None:
    after = decode_cursor(query.cursor) if query.cursor else None
    if after and query.offset:
        raise BadInput("offset", "not with a cursor, which says where to go on")
    return after


async def today_stats(cdrs: CdrStore, account_id: str, agent_id: str, now_ms: int) -> TodayStats:
    midnight_ms = now_ms - now_ms % DAY_MS
    sums = await cdrs.agent_totals(account_id, agent_id, midnight_ms, midnight_ms + DAY_MS)
    answered = sum(each.calls for each in sums if each.is_answered)
    total = sum(each.calls for each in sums)
    inbound = sum(each.calls for each in sums if each.direction == "inbound")
    talk_ms = sum(each.talk_ms for each in sums)
    return TodayStats(
        agent_id=agent_id,
        start_time=format_ms(midnight_ms),
        end_time=format_ms(now_ms),
        total=total,
        answered=answered,
        missed=total - answered,
        inbound=inbound,
        outbound=total - inbound,
        ring_ms=sum(each.ring_ms for each in sums),
        talk_ms=talk_ms,
        hold_ms=sum(each.hold_ms for each in sums),
        average_talk_ms=talk_ms // answered if answered else 0,
        longest_talk_ms=max((each.longest_talk_ms for each in sums), default=0),
    )


class CdrSlice(Struct, frozen=True):
    """The services of the slice, and its job handlers by kind."""

    records: CdrService
    exports: ExportService
    live: LiveEvents
    jobs: Mapping[str, Handler]

    @classmethod
    def build(cls, common: CommonServices, quota: ByteQuota, sign_url: SignUrl) -> Self:
        database, accounts, now_ms = common.database, common.account_cache, common.now_ms
        cdrs, artifacts = CdrStore(database), ArtifactStore(database, now_ms)
        transcripts, cipher = (
            TranscriptStore(database),
            EventIdCipher(common.settings.token_secrets),
        )
        return cls(
            records=CdrService(cdrs, accounts, transcripts, sign_url, common.searches, now_ms),
            exports=ExportService(database, cdrs, accounts, common.jobs, artifacts, quota),
            live=LiveEvents(common.engine, cipher, reader_limit()),
            jobs={KIND: CdrExporter(cdrs, artifacts, ArtifactWriter(artifacts, quota)).run},
        )
