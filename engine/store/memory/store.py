"""The store's twin in this process's memory: the same semantics, for tests and the simulator."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence

from engine.store.change import Change
from engine.store.errors import CommitsLost, Fenced
from engine.store.memory.dial_policy import MemoryDialPolicyStore
from engine.store.memory.documents import MemoryDocuments
from engine.store.memory.outbox import MemoryOutbox
from engine.store.memory.stream import MemoryStream
from engine.store.outbox import OutboxLimits
from engine.store.stream import StreamLimits

MAX_LEASE_MS = 60_000  # a lease that ends later was given before the clock jumped back


class SlotState:
    """All that is kept of one slot."""

    def __init__(self) -> None:
        self.token = 0
        self.owner = ""
        self.until_ms = 0
        self.number = 0  # of the last batch
        self.live: dict[str, tuple[str, bytes]] = {}
        self.logs: dict[str, list[bytes]] = {}
        self.ended: dict[str, tuple[int, bytes]] = {}  # when it expires, state


class MemoryStore(MemoryDocuments):
    """A store for one process; `commit_now` is the commit without a loop."""

    def __init__(
        self,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        *,
        kept_s: float = 86_400.0,
        bounds: StreamLimits = StreamLimits(),  # noqa: B008  frozen
        room: OutboxLimits = OutboxLimits(),  # noqa: B008  frozen
    ) -> None:
        super().__init__()
        self._now_ms = now_ms
        self.outbox = MemoryOutbox(self._now_ms, self._owned, room)
        self._kept_ms = int(kept_s * 1000)
        self.stream = MemoryStream(now_ms, bounds)
        self.dial_policies = MemoryDialPolicyStore()
        self._slots: dict[int, SlotState] = {}
        self._engines: dict[str, tuple[int, str]] = {}
        self._listeners: list[asyncio.Queue[None]] = []

    @property
    def connections(self) -> int:
        """See Store."""
        return 1

    async def claim(self, slot: int, owner: str, lease_ms: int, holder: str = "") -> int | None:
        """See Store."""
        kept, now_ms = self._slot(slot), self._now_ms()
        is_his = holder and kept.owner in {"", holder} and (kept.until_ms > 0 or not kept.owner)
        if kept.owner != owner and (is_his or 0 < kept.until_ms - now_ms <= MAX_LEASE_MS):
            return None
        # Larger than any given before a loss of data, too: the clock sees to that.
        kept.token, kept.owner = max(kept.token + 1, now_ms), owner
        kept.until_ms, kept.number = now_ms + lease_ms, 0
        return kept.token

    async def renew(self, slot: int, token: int, lease_ms: int, number: int = 0) -> bool:
        """See Store."""
        kept = self._slot(slot)
        if kept.token != token:
            return False
        kept.until_ms = self._now_ms() + lease_ms if lease_ms else 0
        self._notify(lease_ms == 0)
        if kept.number < number:
            raise CommitsLost
        return True

    async def heartbeat(self, engine: str, body: str, lease_ms: int) -> dict[str, str]:
        """See Store."""
        ends_ms, known = self._now_ms() + lease_ms, self._engines.pop(engine, None)
        engines = self._engines
        if lease_ms and known is not None and not self._is_alive(known[0]):
            # Late itself: it slept, or the clock was set. It judges nobody: all have their time.
            engines = {
                name: (until_ms if self._is_alive(until_ms) else ends_ms, each)
                for name, (until_ms, each) in engines.items()
            }
        if lease_ms:
            engines[engine] = ends_ms, body
        self._notify((lease_ms == 0) == (known is not None))
        self._engines = {name: each for name, each in engines.items() if self._is_alive(each[0])}
        return {name: body for name, (_, body) in self._engines.items()}

    def _is_alive(self, ends_ms: int) -> bool:
        return 0 < ends_ms - self._now_ms() <= MAX_LEASE_MS

    async def owner(self, slot: int) -> str:
        """See Store."""
        return self._slot(slot).owner

    async def membership_changes(self) -> AsyncIterator[None]:
        """See Store."""
        heard: asyncio.Queue[None] = asyncio.Queue(1)
        self._listeners.append(heard)
        try:
            while True:
                await heard.get()
                yield
        finally:
            self._listeners.remove(heard)

    async def create(self, slot: int, token: int, change: Change) -> bool:
        """See Store."""
        kept = self._owned(slot, token)
        stored = kept.live.get(change.call_id)
        if stored is not None:
            return stored == (change.node, change.state)
        if change.call_id in kept.ended:
            return False
        self.commit_now(slot, token, (change,))
        return True

    async def commit(
        self, slot: int, token: int, changes: Sequence[Change], number: int = 0
    ) -> int:
        """See Store."""
        return self.commit_now(slot, token, changes, number)

    def commit_now(self, slot: int, token: int, changes: Sequence[Change], number: int = 0) -> int:
        """Commit at once; raises Fenced."""
        kept = self._owned(slot, token)
        kept.number = number
        return sum(self._store(kept, slot, change) for change in changes)

    async def live(self, slot: int) -> AsyncIterator[tuple[str, str, bytes]]:
        """See Store."""
        for call_id, (node, state) in list(self._slot(slot).live.items()):
            yield call_id, node, state

    async def read(self, slot: int, call_id: str) -> bytes | None:
        """See Store."""
        kept = self._slot(slot)
        if call_id in kept.live:
            return kept.live[call_id][1]
        return kept.ended[call_id][1] if call_id in kept.ended else None

    async def log(self, slot: int, call_id: str) -> list[bytes]:
        """See Store."""
        return list(self._slot(slot).logs.get(call_id, ()))

    async def ping(self) -> None:
        """See Store."""

    async def close(self) -> None:
        """See Store."""

    def _notify(self, is_one: bool) -> None:
        for heard in self._listeners:
            if is_one and not heard.full():
                heard.put_nowait(None)

    def _slot(self, slot: int) -> SlotState:
        kept = self._slots.get(slot)
        if kept is None:
            kept = self._slots[slot] = SlotState()
        self._expire(kept)
        return kept

    def _owned(self, slot: int, token: int) -> SlotState:
        kept = self._slot(slot)
        if kept.token != token:
            raise Fenced(slot, kept.owner)
        return kept

    def _expire(self, kept: SlotState) -> None:
        now_ms = self._now_ms()
        # Calls expire in the order in which they have ended.
        while kept.ended and (first := next(iter(kept.ended.items())))[1][0] <= now_ms:
            del kept.ended[first[0]]
            kept.logs.pop(first[0], None)

    def _store(self, kept: SlotState, slot: int, change: Change) -> int:
        log = kept.logs.setdefault(change.call_id, [])
        if len(log) >= change.seq + len(change.log):
            return 0
        log.extend([b""] * (change.seq - len(log)))
        log.extend(change.log[len(log) - change.seq :])
        self.stream.append(slot, change.events)
        if change.live:
            kept.live[change.call_id] = change.node, change.state
        else:
            kept.live.pop(change.call_id, None)
            kept.ended.pop(change.call_id, None)
            kept.ended[change.call_id] = self._now_ms() + self._kept_ms, change.state
        return self.outbox.append(slot, change) if change.callbacks else 0
