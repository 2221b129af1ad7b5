"""The stream of call events, as server-sent events that can be taken up again by Last-Event-ID."""

import re

import msgspec
from aiohttp import web
from msgspec import Struct

from engine.rpc.json_body import json_response, read_query
from engine.store.errors import StoreDown
from engine.store.store import Store
from engine.store.stream import START, entry_order
from wire.consumer_groups import LostEvents
from wire.errors import BadInput
from wire.schemas import event_schema

POLL_TIMEOUT_MS = 1_000
PAGE_SIZE = 1_000  # of each slot
_place = msgspec.json.Decoder(dict[int, str])
_ENTRY = re.compile(r"[0-9]{1,20}-[0-9]{1,20}")
Positions = dict[int, str]


class _Head(Struct, rename="camel"):
    """What every version of an event has: a newer engine may have told it."""

    event: str
    call_id: str
    account_id: str


_head = msgspec.json.Decoder(_Head)


class _Wanted(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Which events; all, if nothing is said."""

    call_id: str | None = None
    account: str | None = None


class EventHandlers:
    """One method a request."""

    def __init__(self, store: Store, slots: int) -> None:
        self._stream = store.stream
        self._slots = slots

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Send every event from now on, or from Last-Event-ID; `callId`, `account` narrow it."""
        wanted = read_query(request, _Wanted)
        after = await self._after(request.headers.get("Last-Event-ID"))
        lost = await self._lost(after)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        while True:
            try:
                found = await self._stream.read_after(after, POLL_TIMEOUT_MS, PAGE_SIZE)
                if len(found) >= PAGE_SIZE:  # who is so far behind may be overtaken
                    lost = await self._lost(after)
            except StoreDown:
                return response  # the headers are out: the listener comes back and is told then
            lines = [_gap(lost)] if lost else []
            lines += [_line(after, each, wanted) for each in found]
            lost = []
            # A comment when nothing came: it finds out whether the listener is still there.
            await response.write(b"".join(lines) or b":\n\n")

    async def schema(self, _request: web.Request) -> web.Response:
        """Publish the JSON Schema of an event."""
        return json_response(event_schema())

    async def _after(self, last: str | None) -> Positions:
        newest = await self._stream.newest_ids(range(self._slots))
        if last is None:
            return newest
        try:
            given = _place.decode(last)
        except (msgspec.DecodeError, UnicodeError):
            given = {-1: ""}
        if not given.keys() <= newest.keys() or not all(map(_is_entry, given.values())):
            raise BadInput("Last-Event-ID", "not one of this stream's ids")
        return newest | given

    async def _lost(self, after: Positions) -> list[LostEvents]:
        """List where entries may have been cut off between a place and the oldest one kept."""
        oldest = await self._stream.oldest_ids(range(self._slots))
        return [
            LostEvents(slot, after[slot], entry)
            for slot, entry in oldest.items()
            if after[slot] != START and entry_order(after[slot]) < entry_order(entry)
        ]


def _is_entry(text: str) -> bool:
    # Redis' ids are of 64 bits each, and it refuses to read after what is none.
    return _ENTRY.fullmatch(text) is not None and max(entry_order(text)) < 2**64


def _gap(lost: list[LostEvents]) -> bytes:
    return b"event: lost\ndata: %b\n\n" % msgspec.json.encode(lost)


def _line(after: Positions, found: tuple[int, str, bytes], wanted: _Wanted) -> bytes:
    slot, entry, body = found
    after[slot] = entry
    event = _head.decode(body)
    if wanted.call_id not in {None, event.call_id}:
        return b""
    if wanted.account not in {None, event.account_id}:
        return b""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (
        msgspec.json.encode(after),
        event.event.encode(),
        body,
    )
