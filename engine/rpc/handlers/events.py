"""RPC stream of call events as server-sent events; Last-Event-ID resumes it."""

import re
from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct

from engine.rpc.handlers.consumer_groups import ConsumerGroupHandlers
from engine.rpc.json_body import read_query
from engine.store.errors import StoreDown
from engine.store.store import Store
from engine.store.stream import START, entry_order
from wire.decoding.errors import BadInput
from wire.events.consumer_groups import LostEvents
from wire.schemas import event_schema

POLL_TIMEOUT_MS = 1_000
PAGE_SIZE = 1_000  # per slot
_positions = msgspec.json.Decoder(dict[int, str])
_ENTRY = re.compile(r"[0-9]{1,20}-[0-9]{1,20}")
Positions = dict[int, str]


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


class EventHandlers(Struct, frozen=True):
    store: Store
    slots: int
    groups: ConsumerGroupHandlers

    async def read(self, request: web.Request) -> web.StreamResponse | dict[str, object]:
        """Read a batch for a consumer group if the query names one, else stream."""
        if "group" in request.query:
            return await self.groups.read(request)
        return await self._send_events(request)

    async def _send_events(self, request: web.Request) -> web.StreamResponse:
        """Send all events from now or from Last-Event-ID; `callId` and `account` filter them."""
        query = read_query(request, _Filter)
        after = await self._start_positions(request.headers.get("Last-Event-ID"))
        lost = await self._lost_events(after)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        while True:
            try:
                found = await self.store.stream.read_after(after, POLL_TIMEOUT_MS, PAGE_SIZE)
                if len(found) >= PAGE_SIZE:  # a slow client may fall behind the trimmed stream
                    lost = await self._lost_events(after)
            except StoreDown:
                return response  # headers are sent: the client reconnects and gets the error then
            lines = [_lost_message(lost)] if lost else []
            lines += [_message(after, each, query) for each in found]
            lost = []
            # The comment of an idle stream detects a closed connection.
            await response.write(b"".join(lines) or b":\n\n")

    async def schema(self, _request: web.Request) -> dict[str, Any]:
        return event_schema()

    async def _start_positions(self, last: str | None) -> Positions:
        newest = await self.store.stream.newest_ids(range(self.slots))
        if last is None:
            return newest
        try:
            given = _positions.decode(last)
        except (msgspec.DecodeError, UnicodeError):
            given = {-1: ""}
        if not given.keys() <= newest.keys() or not all(map(_is_entry_id, given.values())):
            raise BadInput("Last-Event-ID", "not an id of this stream")
        return newest | given

    async def _lost_events(self, after: Positions) -> list[LostEvents]:
        """List the slots whose entries may be trimmed between a position and the oldest entry."""
        oldest = await self.store.stream.oldest_ids(range(self.slots))
        return [
            LostEvents(slot, after[slot], entry)
            for slot, entry in oldest.items()
            if after[slot] != START and entry_order(after[slot]) < entry_order(entry)
        ]


def _is_entry_id(text: str) -> bool:
    # A Redis id has two 64-bit parts; Redis rejects larger ones.
    return _ENTRY.fullmatch(text) is not None and max(entry_order(text)) < 2**64


def _lost_message(lost: list[LostEvents]) -> bytes:
    return b"event: lost\ndata: %b\n\n" % msgspec.json.encode(lost)


def _message(positions: Positions, entry: tuple[int, str, bytes], query: _Filter) -> bytes:
    slot, entry_id, body = entry
    positions[slot] = entry_id
    event = _header.decode(body)
    if query.call_id not in {None, event.call_id}:
        return b""
    if query.account not in {None, event.account_id}:
        return b""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (
        msgspec.json.encode(positions),
        event.event.encode(),
        body,
    )
