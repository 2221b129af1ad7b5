"""Writes the webhook log in the background: attempts wait in memory, and are stored in batches.

The log never delays a call: what does not fit is dropped, and counted.
"""

import asyncio
from collections import deque

import structlog
from msgspec import Struct

from base.tasks import cancel_all, wait_for_event
from engine.observe.event_metrics import WebhookLogMetrics
from engine.store.errors import StoreDown
from engine.store.webhook_log import NewAttempt, WebhookLogStore
from engine.webhooks.log.exchange import Exchange
from engine.webhooks.log.logged_attempt import compress, logged

log = structlog.get_logger()
INTERVAL_S = 1.0  # between two batches: the delay of a tail
MAX_QUEUED = 10_000
BATCH_SIZE = 64  # attempts of an account
ATTEMPTS_PER_TURN = 16  # then live calls get their turn on the event loop
CLOSE_TIMEOUT_S = 1.0


class WriterLimits(Struct, frozen=True):
    """How often attempts are stored, and how many may wait."""

    interval_s: float = INTERVAL_S
    max_queued: int = MAX_QUEUED


DEFAULT_LIMITS = WriterLimits()


class AttemptWriter:
    """Implements `AttemptLog`; `run` stores what was added."""

    def __init__(
        self,
        store: WebhookLogStore,
        metrics: WebhookLogMetrics,
        limits: WriterLimits = DEFAULT_LIMITS,
        *,
        is_on: bool = True,
    ) -> None:
        self._is_on = is_on
        self._store = store
        self._metrics = metrics
        self._limits = limits
        self._queue: deque[Exchange] = deque()
        self._added = asyncio.Event()
        self._closed = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()

    def add(self, exchange: Exchange) -> None:
        """Record an attempt, unless too many wait."""
        if not self._is_on:
            return
        if len(self._queue) >= self._limits.max_queued:
            self._drop(1, "queue_full")
            return
        self._queue.append(exchange)
        self._added.set()

    def start(self) -> None:
        self._running = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Store what is left, if the store answers at once."""
        self._closed.set()
        self._added.set()
        if self._running is not None:
            await asyncio.wait([self._running], timeout=CLOSE_TIMEOUT_S)
            await cancel_all([self._running])

    async def _run(self) -> None:
        while not self._closed.is_set():
            await self._added.wait()
            await wait_for_event(self._closed, self._limits.interval_s)
            self._added.clear()
            await self.flush()

    async def flush(self) -> None:
        """Store all attempts that wait; those that the store does not take are dropped."""
        async with self._writing:
            while self._queue:
                await self._store_batch()

    async def _store_batch(self) -> None:
        batches: dict[str, list[NewAttempt]] = {}
        for number in range(1, min(len(self._queue), BATCH_SIZE) + 1):
            exchange = self._queue.popleft()
            if (stored := self._stored_form(exchange)) is not None:
                batches.setdefault(exchange.subject.account, []).append(stored)
            if number % ATTEMPTS_PER_TURN == 0:
                await asyncio.sleep(0)
        await asyncio.gather(*(self._append(*each) for each in batches.items()))

    def _stored_form(self, exchange: Exchange) -> NewAttempt | None:
        """Return an attempt to store; None if its parts, which strangers send, cannot be stored.

        One such attempt must not end the log of all accounts.
        """
        try:
            attempt = logged(exchange)
            return NewAttempt(attempt.call_id or "", compress(attempt))
        except ValueError:  # UnicodeError is one
            log.exception("webhook attempt not logged", account=exchange.subject.account)
            self._drop(1, "not_storable")
            return None

    async def _append(self, account: str, attempts: list[NewAttempt]) -> None:
        try:
            await self._store.append(account, attempts)
        except StoreDown as error:
            log.info("webhook log not written", account=account, error=str(error))
            self._drop(len(attempts), "store_down")
        else:
            self._metrics.recorded.table()[""] += len(attempts)

    def _drop(self, count: int, reason: str) -> None:
        self._metrics.dropped.table()[reason] += count
