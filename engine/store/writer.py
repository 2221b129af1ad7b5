"""One shard's commits: queued without waiting, grouped, written in order, retried until stored."""

import asyncio
from collections import deque
from collections.abc import Callable
from itertools import islice
from time import perf_counter

from msgspec import Struct

from engine.observe.metrics import Metrics
from engine.store.change import Change, coalesce
from engine.store.errors import Fenced, Overflow, StoreDown
from engine.store.store import Store
from wire.shard import ShardId

# What a change may wait that nobody waits for: one with events, and one that only moves a call on,
# such as a digit that is not the last. Most of the latter go with the next change of their shard.
EVENT_DELAY_S = 0.02
QUIET_DELAY_S = 0.2
MAX_PENDING = 20_000
# A script blocks the whole store while it runs.
_MAX_BATCH = 256  # changes
_MAX_BATCH_BYTES = 4_000_000  # a call may have a megabyte
_BACKOFF_S = 0.05
_MAX_BACKOFF_S = 1.0


def _nothing() -> None:
    pass


def _ignore(_value: object) -> None:
    pass


class WriterHooks(Struct, frozen=True):
    """Callbacks on the store's state: down (with the reason), up again, shard has another owner.

    Also on stored changes with callbacks, and on the number of events that their queue rejected.
    """

    on_down: Callable[[str], None] = _ignore
    on_up: Callable[[], None] = _nothing
    on_fenced: Callable[[], None] = _nothing
    on_callbacks: Callable[[Change], None] = _ignore
    on_overflow: Callable[[int], None] = _ignore


NO_HOOKS = WriterHooks()


class Writer:
    """Commits changes in the order of `write`, in groups: of a loop tick, or of one commit's time.

    `run` is its one task, for as long as the shard is owned. A batch that failed is written again,
    the same, until it is stored (a repetition is harmless, see Change). Fenced ends the writer:
    pending changes are not written, and no further `done` is called.
    """

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        store: Store,
        shard: ShardId,
        token: int,
        random: Callable[[], float],
        *,
        hooks: WriterHooks = NO_HOOKS,
        limit: int = MAX_PENDING,
        metrics: Metrics | None = None,
    ) -> None:
        self._store = store
        self._shard = shard
        self._token = token
        self._random = random
        self._hooks = hooks
        self._limit = limit
        self._pending: deque[tuple[Change, Callable[[], None]]] = deque()
        self._sent: list[str] = []
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._fenced = False
        self.is_healthy = True
        self.last_number = 0  # of the last acknowledged batch
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at_s = 0.0
        self._commit_since_s: float | None = None
        store_metrics = (metrics or Metrics()).store
        self._duration = store_metrics.commit_duration.series(shard.node, shard.slot)
        self._batch_size = store_metrics.commit_size.series(shard.node, shard.slot)
        self._failures = store_metrics.commit_failures.table(shard.node)
        store_metrics.commit_failures.initialize(shard.node, shard.slot)

    @property
    def is_overloaded(self) -> bool:
        """Whether new calls should be rejected: the backlog is at half of its limit."""
        return len(self._pending) * 2 >= self._limit

    @property
    def pending_calls(self) -> frozenset[str]:
        return frozenset(change.call_id for change, _ in self._pending)

    @property
    def pending_count(self) -> int:
        return len(self._pending)

    @property
    def lag_s(self) -> float:
        """For how long the present commit has been tried; 0: none is in progress."""
        return 0.0 if self._commit_since_s is None else perf_counter() - self._commit_since_s

    def write(self, change: Change, done: Callable[[], None], *, urgent: bool = True) -> None:
        """Commit a change, then call `done`, which must not raise; raises Overflow at the limit.

        A change that is not urgent, because it has no side effects, may be lost with the process
        within `QUIET_DELAY_S`, like an event that arrived that much later.
        """
        if len(self._pending) >= self._limit:
            raise Overflow(f"shard {self._shard}: {self._limit} changes wait for the store")
        self._add(change, done, urgent=urgent)

    def rewrite(self, change: Change) -> None:
        """Commit state that is held in memory, whatever the backlog."""
        self._add(change, _nothing, urgent=True)

    def mark_sent(self, call_id: str) -> None:
        """Store that the last webhooks of an ended call have been sent."""
        self._sent.append(call_id)
        if not self._fenced:
            self._idle.clear()
            self._flush_within(QUIET_DELAY_S)

    def take_pending_from(self, writer: "Writer") -> None:
        """Write what is pending at a fenced writer of this shard; its `done` is not called."""
        for change, _ in writer._pending:  # noqa: SLF001 - the same class
            self.rewrite(change)
        for call_id in writer._sent:  # noqa: SLF001 - the same class
            self.mark_sent(call_id)

    def reset_numbering(self) -> None:
        """Start again at batch number 1: the store lost acknowledged batches."""
        self.last_number = 0

    def flush(self) -> None:
        """Commit pending changes now."""
        self._cancel_timer()
        if self._pending or self._sent:
            self._wake.set()

    async def drain(self) -> None:
        """Wait until nothing is pending: everything is stored, or the shard has another owner."""
        self.flush()
        await self._idle.wait()

    async def run(self) -> None:
        """Commit until cancelled or fenced."""
        try:
            self.flush()
            while True:
                await self._wake.wait()
                self._wake.clear()
                if self._pending or self._sent:  # not after a flush of what was being committed
                    await self._commit(self._next_batch(), self._sent[:_MAX_BATCH])
        except Fenced:
            self._fenced = True
            self._idle.set()
            self._hooks.on_fenced()

    def _next_batch(self) -> list[tuple[Change, Callable[[], None]]]:
        """Return the first pending changes: at least one, and not too many or too large ones."""
        batch, size = list[tuple[Change, Callable[[], None]]](), 0
        for each in islice(self._pending, _MAX_BATCH):
            size += each[0].size
            if batch and size > _MAX_BATCH_BYTES:
                break
            batch.append(each)
        return batch

    def _add(self, change: Change, done: Callable[[], None], *, urgent: bool) -> None:
        self._pending.append((change, done))
        if self._fenced:
            return  # `take_pending_from` may still take it
        self._idle.clear()
        if urgent or change.has_callbacks:
            self.flush()
        else:
            self._flush_within(EVENT_DELAY_S if change.events else QUIET_DELAY_S)

    def _flush_within(self, delay_s: float) -> None:
        loop = asyncio.get_running_loop()
        at_s = loop.time() + delay_s
        if self._timer is not None:
            if self._timer_at_s <= at_s:
                return
            self._timer.cancel()
        self._timer_at_s = at_s
        self._timer = loop.call_at(at_s, self.flush)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _commit(
        self, batch: list[tuple[Change, Callable[[], None]]], sent: list[str]
    ) -> None:
        is_all = len(batch) == len(self._pending) and len(sent) == len(self._sent)
        changes = coalesce([change for change, _ in batch])
        failures = 0
        self._commit_since_s = perf_counter()
        try:
            while not await self._try(changes, sent):
                await asyncio.sleep(self._backoff_s(failures))
                failures += 1
        finally:
            self._commit_since_s = None
        del self._sent[: len(sent)]
        for _, done in batch:
            self._pending.popleft()
            done()
        for change in changes:
            if change.has_callbacks:
                self._hooks.on_callbacks(change)
        if not (self._pending or self._sent):
            self._idle.set()
        elif not is_all:
            self._wake.set()  # for the rest; what came meanwhile has its own time

    async def _try(self, changes: list[Change], sent: list[str]) -> bool:
        started_s = perf_counter()
        try:
            number = self.last_number + 1
            overflowed = await self._store.commit(self._shard, self._token, changes, number, sent)
        except StoreDown as error:
            self._failures[str(self._shard.slot)] += 1
            if self.is_healthy:
                self.is_healthy = False
                self._hooks.on_down(str(error))
            return False
        self.last_number = number
        if overflowed:
            self._hooks.on_overflow(overflowed)
        self._duration.observe(perf_counter() - started_s)
        self._batch_size.observe(len(changes))
        if not self.is_healthy:
            self.is_healthy = True
            self._hooks.on_up()
        return True

    def _backoff_s(self, failures: int) -> float:
        longest_s = min(_MAX_BACKOFF_S, _BACKOFF_S * float(1 << min(failures, 10)))
        return longest_s * (0.5 + self._random() / 2)
