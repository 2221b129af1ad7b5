"""What can be asked about call records."""

from msgspec import Struct

from api.cdrs.query import cursor
from api.cdrs.query.filters import Filters
from api.cdrs.query.pages import CdrRow, Total
from api.cdrs.schemas import (
    CdrFilterQuery,
    CdrListQuery,
    CustomerHistoryQuery,
    DispositionBody,
    split_names,
)
from api.cdrs.store import CdrStore
from api.cdrs.today import TodayStats, today_stats
from api.cdrs.views import CdrView, cdr_view
from api.common.clock import Clock
from api.common.errors import NotFound
from wire.errors import BadInput

MAX_CLIENTS = 100


class CdrPage(Struct, frozen=True, rename="camel"):
    """A page, newest first; the total is at least that many where it is not exact."""

    data: tuple[CdrView, ...]
    total: int
    total_is_exact: bool
    limit: int
    offset: int
    next_cursor: str | None


class ClientIds(Struct, frozen=True, rename="camel"):
    """Client ids in order; `hasMore`: a longer prefix finds the others."""

    data: tuple[str, ...]
    has_more: bool


class CdrService:
    """One method a question, each about one account."""

    def __init__(self, cdrs: CdrStore, now_ms: Clock) -> None:
        self._cdrs = cdrs
        self._now_ms = now_ms

    async def list(self, account_id: str, asked: CdrListQuery) -> CdrPage:
        """Give a page of the calls that are wanted."""
        after = cursor.decode(asked.cursor) if asked.cursor else None
        if after and asked.offset:
            raise BadInput("offset", "not with a cursor, which says where to go on")
        filters = to_filters(account_id, asked)
        rows, total = await self._cdrs.page_and_total(filters, asked.limit, asked.offset, after)
        return _page(rows, total, asked.limit, asked.offset)

    async def history(self, account_id: str, asked: CustomerHistoryQuery) -> CdrPage:
        """Give a page of the calls in which a number took part."""
        filters = Filters(account_id, number=asked.number)
        rows, total = await self._cdrs.page_and_total(filters, asked.limit, asked.offset)
        return _page(rows, total, asked.limit, asked.offset)

    async def get(self, account_id: str, req_id: str) -> CdrView:
        """Give one record with its timeline; raises NotFound."""
        row = await self._cdrs.get(account_id, req_id) if req_id.isprintable() else None
        if row is None:
            raise NotFound("no call record of this id")
        return cdr_view(row, await self._cdrs.timeline(account_id, req_id))

    async def set_dispositions(
        self, account_id: str, req_id: str, body: DispositionBody
    ) -> CdrView:
        """Note what somebody decided about a call, and give its record."""
        columns = body.columns()
        if not columns:
            raise BadInput("dispositionLevel1Id", "at least one level must be given")
        await self.get(account_id, req_id)
        await self._cdrs.set_dispositions(account_id, req_id, columns)
        return await self.get(account_id, req_id)

    async def today(self, account_id: str, agent_id: str) -> TodayStats:
        """Add up an agent's day so far."""
        return await today_stats(self._cdrs, account_id, agent_id, self._now_ms())

    async def clients(self, account_id: str, prefix: str) -> ClientIds:
        """List the clients whose ids begin so."""
        found = await self._cdrs.clients(account_id, prefix, MAX_CLIENTS + 1)
        return ClientIds(tuple(found[:MAX_CLIENTS]), len(found) > MAX_CLIENTS)


def to_filters(account_id: str, asked: CdrFilterQuery) -> Filters:
    """Read filters; half a time range raises BadInput, and so does one that ends too early."""
    _check_times(asked)
    return Filters(
        account_id,
        req_id=asked.req_id,
        client_id=asked.client_id,
        caller_id=asked.caller_id,
        to_number=asked.to_number,
        dialed_number=asked.dialed_number,
        call_path=asked.call_path,
        obd_type=asked.obd_type,
        disposition1=asked.disposition_level1_id,
        disposition2=asked.disposition_level2_id,
        disposition3=asked.disposition_level3_id,
        is_answered=asked.answer_status == "answered" if asked.answer_status else None,
        purpose=asked.recording_purpose,
        agent_names=split_names(asked.agent_name),
        start_ms=asked.start_time,
        end_ms=asked.end_time,
    )


def _check_times(asked: CdrFilterQuery) -> None:
    start_ms, end_ms = asked.start_time, asked.end_time
    if start_ms is None and end_ms is not None:
        raise BadInput("startTime", "needed with endTime")
    if start_ms is not None and end_ms is None:
        raise BadInput("endTime", "needed with startTime")
    if start_ms is not None and end_ms is not None and end_ms < start_ms:
        raise BadInput("endTime", "before startTime")


def _page(rows: list[CdrRow], total: Total, limit: int, offset: int) -> CdrPage:
    shown_rows, has_more = rows[:limit], len(rows) > limit
    known = offset + len(rows)
    return CdrPage(
        data=tuple(map(cdr_view, shown_rows)),
        total=max(total.count, known if shown_rows else 0),
        total_is_exact=total.is_exact,
        limit=limit,
        offset=offset,
        next_cursor=cursor.encode(shown_rows[-1].position) if has_more else None,
    )
