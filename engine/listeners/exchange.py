"""One request through a listener: offered in the store, and its response awaited there."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress

import msgspec
from msgspec import Struct

from base.fair_slots import FairSlots
from engine.observe.event_metrics import ListenerMetrics
from engine.store.errors import StoreDown
from engine.store.listeners import ListenerStore
from engine.webhooks.errors import AttemptFailed
from wire.decoding.messages import decode_message
from wire.listeners import ListenerRequest, ListenerResponse

CHECK_INTERVAL_MS = 500  # how soon it is noticed that a listener has ended
# Responses that are read at once, of which each has a connection to the store. Further requests
# take turns, by account.
MAX_READS = 100
MAX_READS_OF_ACCOUNT = 20
ID_BYTES = 16
LOST = "listener_lost"


class ReceivedBody(Struct, frozen=True):
    """The body of a response, readable like one of aiohttp."""

    body: bytes

    async def iter_any(self) -> AsyncIterator[bytes]:
        yield self.body


class ListenerReply(Struct, frozen=True):
    """A listener's response, readable like one of aiohttp."""

    status: int
    headers: Mapping[str, str]
    content: ReceivedBody


class ListenerExchange(Struct, frozen=True):
    """Sends requests to one listener."""

    store: ListenerStore
    account: str
    listener: str
    reads: FairSlots
    is_live: Callable[[str], bool]
    forget: Callable[[str], None]
    now_ms: Callable[[], int]
    new_id: Callable[[int], str]
    metrics: ListenerMetrics

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, wait_s: float
    ) -> ListenerReply:
        """Send a request and await its response; raises AttemptFailed and TimeoutError.

        A listener that ends meanwhile fails the attempt as `listener_lost`: the next one goes
        elsewhere.
        """
        request_id, wait_ms = self.new_id(ID_BYTES), int(wait_s * 1000)
        request = ListenerRequest(
            request_id, method, url, dict(headers), body.decode(), self.now_ms() + wait_ms
        )
        outcome = "timeout"  # unless it ends otherwise
        try:
            response = await self._exchange(request, wait_s)
            outcome = "answered" if response.fault is None else "failed"
        except StoreDown:
            outcome = "store_down"
            self.forget(self.listener)
            raise AttemptFailed(LOST, "the store can't be used now", transient=True) from None
        except AttemptFailed:
            outcome = "lost"
            raise
        finally:
            self.metrics.requests.table()[outcome] += 1
        return _reply(response)

    async def _exchange(self, request: ListenerRequest, wait_s: float) -> ListenerResponse:
        body = msgspec.json.encode(request)
        position = await self.store.offer(self.listener, request.id, body, int(wait_s * 1000))
        try:
            return await self._response(request.id, wait_s)
        finally:
            with suppress(StoreDown):
                await self.store.withdraw(self.listener, request.id, position)

    async def _response(self, request_id: str, wait_s: float) -> ListenerResponse:
        async with asyncio.timeout(wait_s):
            while self.is_live(self.listener):
                async with self.reads.slot(self.account):
                    found = await self.store.response(self.listener, request_id, CHECK_INTERVAL_MS)
                if found is not None:
                    return decode_message(found, ListenerResponse)
        raise AttemptFailed(LOST, "the listener has ended", transient=True)


def _reply(response: ListenerResponse) -> ListenerReply:
    match response.fault:
        case None:
            return ListenerReply(
                response.status,
                {name.title(): value for name, value in response.headers.items()},
                ReceivedBody(response.body.encode()),
            )
        case "connect":
            raise AttemptFailed("connect", "the listener's server refused", transient=True)
        case "timeout":
            raise TimeoutError
        case "not_http":
            raise AttemptFailed("not_http", "not an HTTP response")
        case "too_large":
            raise AttemptFailed("too_large", "larger than a listener may send")
        case "not_text":
            raise AttemptFailed("not_json", "the body is not JSON")
