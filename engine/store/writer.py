"""One slot's commits: handed over without waiting, grouped, written in order, never lost."""

import asyncio
from collections import deque
from collections.abc import Callable
from itertools import islice
from time import perf_counter

from msgspec import Struct

from engine.observe.metrics import Metrics
from engine.store.change import Change, coalesce
from engine.store.errors import Fenced, Overflow, StoreDown
from engine.store.flush_scheduler import FlushScheduler
from engine.store.store import Store

MAX_PENDING = 20_000
_BATCH = 256  # changes; a script holds up the whole store while it runs
_BACKOFF_S = 0.05
_BACKOFF_MAX_S = 1.0


def _nothing() -> None:
    pass


def _nothing_of(_what: object) -> None:
    pass


class WriterHooks(Struct, frozen=True):
    """Who hears how the store does: down with a reason, up again, owned by another from now on.

    And what it has stored that a customer waits for, and how many events found no room there.
    """

    on_down: Callable[[str], None] = _nothing_of
    on_up: Callable[[], None] = _nothing
    on_fenced: Callable[[], None] = _nothing
    on_callbacks: Callable[[Change], None] = _nothing_of
    on_overflow: Callable[[int], None] = _nothing_of


class Writer:
    """Commits changes in the order of `write`, grouping those of a loop tick or of a commit's time.

    `run` is its one task, for the life of the ownership of the slot. A batch that found the store
    down is written again, the same, until it is stored (a repetition is harmless, see Change).
    Fenced ends it: what waits goes no further, no further `done` is called.
    """

    def __init__(  # noqa: PLR0913  collaborators are passed in
        self,
        store: Store,
        slot: int,
        token: int,
        random: Callable[[], float],
        *,
        watch: WriterHooks = WriterHooks(),  # noqa: B008  frozen
        limit: int = MAX_PENDING,
        pace: FlushScheduler | None = None,
        meter: Metrics | None = None,
    ) -> None:
        self._store = store
        self._slot = slot
        self._token = token
        self._random = random
        self._watch = watch
        self._limit = limit
        self._waiting: deque[tuple[Change, Callable[[], None]]] = deque()
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._fenced = False
        self.is_healthy = True
        self.last_number = 0  # of the last batch that was answered
        self._pace = pace or FlushScheduler()
        counts = (meter or Metrics()).store
        self._took = counts.commit_duration.series(slot)
        self._batches = counts.commit_size.series(slot)
        self._faults = counts.commit_failures.table()
        counts.commit_failures.initialize(slot)

    @property
    def is_overloaded(self) -> bool:
        """Whether new calls should be refused: half of the limit waits already."""
        return len(self._waiting) * 2 >= self._limit

    @property
    def pending_calls(self) -> frozenset[str]:
        """The calls of which changes wait."""
        return frozenset(change.call_id for change, _ in self._waiting)

    def take_pending_from(self, writer: "Writer") -> None:
        """Write what waits at another one of this slot; what was to be done then is not."""
        for change, _ in writer._waiting:  # noqa: SLF001 - its own kind
            self.rewrite(change)

    def reset_numbering(self) -> None:
        """Count anew: the store has lost batches that it had answered."""
        self.last_number = 0

    @property
    def pending_count(self) -> int:
        """How many changes wait."""
        return len(self._waiting)

    def write(self, change: Change, done: Callable[[], None], *, urgent: bool = True) -> None:
        """Commit a change, then call `done`, which must not raise; raises Overflow at the limit.

        One that need not urgent, since nothing is done upon it, may be lost with the process within
        `pace.LAZY_S`, like an event that came as much later.
        """
        if len(self._waiting) >= self._limit:
            raise Overflow(f"slot {self._slot}: {self._limit} changes wait for the store")
        self._take(change, done, urgent=urgent)

    def rewrite(self, change: Change) -> None:
        """Commit what is in memory anyway, however much waits."""
        self._take(change, _nothing, urgent=True)

    def _take(self, change: Change, done: Callable[[], None], *, urgent: bool) -> None:
        self._waiting.append((change, done))
        if self._fenced:
            return  # it is its heir's, if there is one
        self._idle.clear()
        if urgent or change.has_callbacks:
            self._pace.flush_now()
        else:
            self._pace.flush_soon()

    def flush(self) -> None:
        """Have what waits committed now."""
        if self._waiting:
            self._wake.set()

    async def drain(self) -> None:
        """Wait until nothing waits: everything is stored, or the slot is another's."""
        self.flush()
        await self._idle.wait()

    async def run(self) -> None:
        """Commit until cancelled or fenced."""
        self._pace.add(self)
        try:
            self.flush()
            while True:
                await self._wake.wait()
                await self._commit(list(islice(self._waiting, _BATCH)))
        except Fenced:
            self._fenced = True
            self._idle.set()
            self._watch.on_fenced()
        finally:
            self._pace.remove(self)

    async def _commit(self, batch: list[tuple[Change, Callable[[], None]]]) -> None:
        changes = coalesce([change for change, _ in batch])
        failures = 0
        while not await self._try(changes):
            await asyncio.sleep(self._pause_s(failures))
            failures += 1
        for _, done in batch:
            self._waiting.popleft()
            done()
        for change in changes:
            if change.has_callbacks:
                self._watch.on_callbacks(change)
        if not self._waiting:
            self._wake.clear()
            self._idle.set()

    async def _try(self, changes: list[Change]) -> bool:
        began_s = perf_counter()
        try:
            number = self.last_number + 1
            overflowed = await self._store.commit(self._slot, self._token, changes, number)
        except StoreDown as error:
            self._faults[str(self._slot)] += 1
            if self.is_healthy:
                self.is_healthy = False
                self._watch.on_down(str(error))
            return False
        self.last_number = number
        if overflowed:
            self._watch.on_overflow(overflowed)
        self._took.observe(perf_counter() - began_s)
        self._batches.observe(len(changes))
        if not self.is_healthy:
            self.is_healthy = True
            self._watch.on_up()
        return True

    def _pause_s(self, failures: int) -> float:
        longest = min(_BACKOFF_MAX_S, _BACKOFF_S * float(1 << min(failures, 10)))
        return longest * (0.5 + self._random() / 2)
