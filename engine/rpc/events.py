"""The stream of call events, as server-sent events that can be taken up again by Last-Event-ID."""

import re

import msgspec
from aiohttp import web

from engine.store.errors import StoreDown
from engine.store.store import Store
from wire.errors import BadInput
from wire.events import CallEvent

WAIT_MS = 1_000
_place = msgspec.json.Decoder(dict[int, str])
_ENTRY = re.compile(r"[0-9]{1,20}-[0-9]{1,20}")
_event = msgspec.json.Decoder(CallEvent)


class EventHandlers:
    """One method a request."""

    def __init__(self, store: Store, slots: int) -> None:
        self._store = store
        self._slots = slots

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Send every event from now on, or from Last-Event-ID; `callId`, `account` narrow it."""
        after = await self._after(request.headers.get("Last-Event-ID"))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        while True:
            try:
                found = await self._store.events(after, WAIT_MS)
            except StoreDown:
                return response  # the headers are out: the listener comes back and is told then
            lines = [self._line(after, each, request) for each in found]
            # A comment when nothing came: it finds out whether the listener is still there.
            await response.write(b"".join(lines) or b":\n\n")

    async def _after(self, last: str | None) -> dict[int, str]:
        newest = await self._store.newest(range(self._slots))
        if last is None:
            return newest
        try:
            given = _place.decode(last)
        except (msgspec.DecodeError, UnicodeError):
            given = {-1: ""}
        if not given.keys() <= newest.keys() or not all(map(_ENTRY.fullmatch, given.values())):
            raise BadInput("Last-Event-ID", "not one of this stream's ids")
        return newest | given

    def _line(
        self, after: dict[int, str], found: tuple[int, str, bytes], request: web.Request
    ) -> bytes:
        slot, entry, body = found
        after[slot] = entry
        event = _event.decode(body)
        wanted = request.query
        if wanted.get("callId", event.call_id) != event.call_id:
            return b""
        if wanted.get("account", event.account_id) != event.account_id:
            return b""
        return b"id: %b\nevent: %b\ndata: %b\n\n" % (
            msgspec.json.encode(after),
            event.event.encode(),
            body,
        )
