"""RPC stream of call events as server-sent events; Last-Event-ID resumes it."""

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any
from weakref import WeakValueDictionary

import msgspec
from aiohttp import web
from msgspec import Struct, field

from engine.rpc.handlers.consumer_groups import ConsumerGroupHandlers
from engine.rpc.handlers.stream_positions import StreamPositions, parse_positions
from engine.rpc.json_body import read_query
from engine.runtime.cluster.shard_map import ShardMap
from engine.store.errors import StoreDown
from engine.store.store import Store
from engine.store.stream import START, entry_order
from wire.decoding.errors import BadInput
from wire.events.consumer_groups import LostEvents
from wire.schemas import event_schema
from wire.shard import ShardId

POLL_TIMEOUT_MS = 1_000
PAUSE_S = 0.1  # after events, so that those of a busy moment are read and sent together
PAGE_SIZE = 100  # per shard; then live calls get their turn on the event loop


class _EventHeader(Struct, rename="camel"):
    """The fields that every version of an event has: a newer engine may have written it."""

    event: str
    call_id: str
    account_id: str


_header = msgspec.json.Decoder(_EventHeader)


class _Filter(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Filters; without one, all events match."""

    call_id: str | None = None
    account: str | None = None

    @property
    def needles(self) -> list[bytes]:
        """What each matching event contains."""
        return [msgspec.json.encode(each) for each in (self.call_id, self.account) if each]

    def matches(self, event: _EventHeader) -> bool:
        is_call = self.call_id in {None, event.call_id}
        return is_call and self.account in {None, event.account_id}


class _Page(Struct):
    """How far a reader has read."""

    query: _Filter
    needles: list[bytes]
    positions: StreamPositions
    lost: list[LostEvents]
    is_behind: bool  # more events are stored: it need not wait for the next one
    has_read: bool = False  # events, of any account


class EventHandlers(Struct, frozen=True):
    """Many readers of the past take turns by page, one of an account at a time."""

    store: Store
    shards: ShardMap
    groups: ConsumerGroupHandlers
    turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def read(self, request: web.Request) -> web.StreamResponse | dict[str, object]:
        """Read a batch for a consumer group if the query names one, else stream."""
        if "group" in request.query:
            return await self.groups.read(request)
        return await self._send_events(request)

    async def _send_events(self, request: web.Request) -> web.StreamResponse:
        """Send all events from now or from Last-Event-ID; `callId` and `account` filter them."""
        query = read_query(request, _Filter)
        last = request.headers.get("Last-Event-ID")
        positions = await self._start_positions(last)
        lost = await self._lost_events(positions)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        page = _Page(query, query.needles, positions, lost, is_behind=last is not None)
        turn = self.turns.setdefault(query.account or "", asyncio.Lock())
        while True:
            waits = turn if page.is_behind else nullcontext()
            try:
                lines = await self._read_page(page, waits)
            except StoreDown:
                return response  # headers are sent: the client reconnects and gets the error then
            # The comment of an idle stream detects a closed connection.
            await response.write(lines or b":\n\n")
            if page.has_read and not page.is_behind:
                await asyncio.sleep(PAUSE_S)

    async def _read_page(self, page: _Page, turn: AbstractAsyncContextManager[Any]) -> bytes:
        """Return the messages that follow a position, which moves on."""
        async with turn:
            wait_ms = 0 if page.is_behind else POLL_TIMEOUT_MS
            page.positions.add(self.shards.all)
            found = await self.store.stream.read_after(page.positions.after, wait_ms, PAGE_SIZE)
            page.has_read, page.is_behind = bool(found), len(found) >= PAGE_SIZE
            if page.is_behind:  # a slow client may fall behind the trimmed stream
                page.lost = await self._lost_events(page.positions)
            lines = [_lost_message(page.lost)] if page.lost else []
            lines += [_message(page, each) for each in found]
            page.lost = []
            await asyncio.sleep(0)
            return b"".join(lines)

    async def schema(self, _request: web.Request) -> dict[str, Any]:
        return event_schema()

    async def _start_positions(self, last: str | None) -> StreamPositions:
        shards = self.shards.all
        if last is None:
            return StreamPositions(await self.store.stream.newest_ids(shards))
        try:
            return StreamPositions(parse_positions(last, shards))
        except ValueError:
            raise BadInput("Last-Event-ID", "not an id of this stream") from None

    async def _lost_events(self, positions: StreamPositions) -> list[LostEvents]:
        """List the shards whose entries may be trimmed between a position and the oldest entry."""
        after = positions.after
        oldest = await self.store.stream.oldest_ids(tuple(after))
        return [
            LostEvents(str(shard), after[shard], entry)
            for shard, entry in oldest.items()
            if after[shard] != START and entry_order(after[shard]) < entry_order(entry)
        ]


def _lost_message(lost: list[LostEvents]) -> bytes:
    return b"event: lost\ndata: %b\n\n" % msgspec.json.encode(lost)


def _message(page: _Page, entry: tuple[ShardId, str, bytes]) -> bytes:
    """Return what the reader gets of an entry; those of others are not decoded."""
    shard, entry_id, body = entry
    page.positions.advance(shard, entry_id)
    if not all(each in body for each in page.needles):
        return b""
    event = _header.decode(body)
    if not page.query.matches(event):
        return b""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (
        page.positions.id,
        event.event.encode(),
        body,
    )
