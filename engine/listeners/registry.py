"""The live listeners of all accounts, as last read; each engine reads them twice a second.

They answer only for numbers whose route allows it: with a webhook, whoever answers it has the call.
"""

import asyncio
import secrets
from collections.abc import Callable

import structlog

from base.fair_slots import FairSlots
from engine.listeners.exchange import MAX_READS, MAX_READS_OF_ACCOUNT, ListenerExchange
from engine.observe.event_metrics import ListenerMetrics
from engine.store.errors import StoreDown
from engine.store.store import Store
from wire.call_id_format import call_of
from wire.decoding.messages import decode_message
from wire.listeners import Listener
from wire.phone_numbers.e164 import spellings
from wire.rpc import NumberRoute

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
