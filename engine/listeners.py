"""The live listeners of all accounts, as last read; each engine reads them twice a second.

They answer only for numbers whose route allows it: with a webhook, whoever answers it has the call.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress

import msgspec
import structlog
from msgspec import Struct

from base.fair_slots import FairSlots
from engine.observe.event_metrics import ListenerMetrics
from engine.store.errors import StoreDown
from engine.store.listeners import ListenerStore
from engine.store.store import Store
from engine.webhooks.errors import AttemptFailed
from wire.call_id_format import call_of
from wire.decoding.messages import decode_message
from wire.listeners import Listener, ListenerRequest, ListenerResponse
from wire.phone_numbers.e164 import spellings
from wire.rpc import NumberRoute

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


log = structlog.get_logger()
POLL_INTERVAL_S = 0.5
NumberOf = Callable[[str], str | None]  # the account's own number in a live call


async def allows_listeners(store: Store, account: str, number: str) -> bool:
    """Return whether the route of an account's number allows listeners; raises StoreDown."""
    for spelling in spellings(number):
        if body := await store.route(spelling):
            route = decode_message(body, NumberRoute)
            return route.account == account and route.allow_listeners
    return False


class ListenerRegistry:
    """Finds the listener of a request; while the store is down, there is none."""

    def __init__(
        self,
        store: Store,
        number_of: NumberOf,
        now_ms: Callable[[], int],
        metrics: ListenerMetrics,
    ) -> None:
        self._store = store
        self._metrics = metrics
        self._number_of = number_of
        self._now_ms = now_ms
        self._reads = FairSlots(MAX_READS, MAX_READS_OF_ACCOUNT)
        self._live: dict[str, Listener] = {}
        self._by_account: dict[str, list[Listener]] = {}

    def find_for_request(self, account: str, request_id: str) -> ListenerExchange | None:
        """Return the listener of a call's request, if there is one."""
        if account not in self._by_account:
            return None
        call_id = call_of(request_id) or ""
        return self.find(account, call_id)

    def find(self, account: str, call_id: str, number: str = "") -> ListenerExchange | None:
        """Return the listener of a call, or else of its number; the newest one.

        `number` is that of a call that is not live here.
        """
        number = self._number_of(call_id) or number
        candidates = self._by_account.get(account, ())
        numbers = spellings(number) if number else ()
        of_call = [each for each in candidates if each.call_id and each.call_id == call_id]
        of_number = [each for each in candidates if not each.call_id and each.number in numbers]
        found = max(of_call or of_number, key=lambda each: each.created_ms, default=None)
        if found is None:
            return None
        return ListenerExchange(
            self._store.listeners,
            account,
            found.id,
            self._reads,
            self.is_live,
            self.forget,
            self._now_ms,
            secrets.token_hex,
            self._metrics,
        )

    def has(self, account: str) -> bool:
        return account in self._by_account

    def is_live(self, listener: str) -> bool:
        return listener in self._live

    def forget(self, listener: str) -> None:
        """Use a listener no longer, until it is read again."""
        self._set([each for each in self._live.values() if each.id != listener])

    async def run(self) -> None:
        """Poll until cancelled."""
        while True:
            await self.poll()
            await asyncio.sleep(POLL_INTERVAL_S)

    async def poll(self) -> None:
        """Read the listeners."""
        try:
            live = [each for each in await self._store.listeners.live() if await self._allows(each)]
        except StoreDown as error:
            if self._live:
                log.warning("listeners not read", error=str(error))
            live = []
        for each in live:
            if each.id not in self._live:
                log.info("listener started", account=each.account, listener=each.id)
        self._set(live)

    async def _allows(self, listener: Listener) -> bool:
        return await allows_listeners(self._store, listener.account, listener.number)

    def _set(self, live: list[Listener]) -> None:
        self._live = {each.id: each for each in live}
        self._metrics.connected.table()[""] = len(live)
        self._by_account = {}
        for each in live:
            self._by_account.setdefault(each.account, []).append(each)
