"""The store in this process's memory, with the same semantics, for tests and the simulator."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

from engine.store.callback_queue import DEFAULT_CALLBACK_QUEUE_LIMITS, CallbackQueueLimits
from engine.store.change import Change
from engine.store.compressed_call import EndedCall, compress, decompress, is_compressed
from engine.store.errors import CommitsLost, Fenced
from engine.store.shard_layout import Workload
from engine.store.stream import DEFAULT_STREAM_LIMITS, StreamLimits
from engine.store.webhook_log import DEFAULT_WEBHOOK_LOG_LIMITS, WebhookLogLimits
from tests.harness.memory_store.callback_queue import MemoryCallbackQueue
from tests.harness.memory_store.documents import MemoryDialPolicyStore, MemoryDocuments
from tests.harness.memory_store.listeners import MemoryListeners
from tests.harness.memory_store.shard_layout import MemoryShardLayout
from tests.harness.memory_store.stream import MemoryStream
from tests.harness.memory_store.webhook_log import MemoryWebhookLog
from wire.cluster import StoreServer
from wire.shard import ShardId

DAY_MS = 86_400_000
MAX_LEASE_MS = 60_000  # a lease that ends later was given before the clock jumped back


class ShardState:
    """All that is stored of one shard."""

    def __init__(self) -> None:
        self.token = 0
        self.owner = ""
        self.until_ms = 0
        self.seen_ms = 0  # when its lease was renewed
        self.seen_before_ms = 0  # the same of the owner before
        self.number = 0  # of the last batch
        self.live: dict[str, tuple[str, bytes]] = {}
        self.logs: dict[str, list[bytes]] = {}
        self.ended: dict[str, tuple[int, bytes]] = {}  # when it expires, state or compressed call
        self.uncompressed: dict[str, int] = {}  # when each has ended
        self.used: dict[tuple[int, str], int] = {}  # milliseconds by day and account
        self.unsent = set[str]()  # ended calls that still have webhooks to send


class MemoryStore(MemoryDocuments, MemoryShardLayout):
    """Implements `Store` for one process; `commit_now` commits without an event loop."""

    def __init__(
        self,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        *,
        retention_s: float = 86_400.0,
        stream_limits: StreamLimits = DEFAULT_STREAM_LIMITS,
        outbox_limits: CallbackQueueLimits = DEFAULT_CALLBACK_QUEUE_LIMITS,
        webhook_log_limits: WebhookLogLimits = DEFAULT_WEBHOOK_LOG_LIMITS,
    ) -> None:
        MemoryDocuments.__init__(self, now_ms)
        MemoryShardLayout.__init__(self)
        self._now_ms = now_ms
        self.callback_queue = MemoryCallbackQueue(
            self._now_ms, self._owned, outbox_limits, self.documents
        )
        self._retention_ms = int(retention_s * 1000)
        self.stream = MemoryStream(now_ms, stream_limits)
        self.listeners = MemoryListeners(now_ms)
        self.dial_policies = MemoryDialPolicyStore()
        self.webhook_log = MemoryWebhookLog(now_ms, webhook_log_limits)
        self._shards: dict[ShardId, ShardState] = {}
        self._engines: dict[str, tuple[int, str]] = {}
        self._listeners: list[asyncio.Queue[None]] = []

    @property
    def connections(self) -> int:
        return 1

    async def claim(
        self, shard: ShardId, owner: str, lease_ms: int, holder: str = ""
    ) -> int | None:
        state, now_ms = self._shard(shard), self._now_ms()
        is_held = holder and state.owner in {"", holder} and (state.until_ms > 0 or not state.owner)
        if state.owner != owner and (is_held or 0 < state.until_ms - now_ms <= MAX_LEASE_MS):
            return None
        # By the clock, also larger than any given before a loss of data.
        state.token, state.owner = max(state.token + 1, now_ms), owner
        state.until_ms, state.number = now_ms + lease_ms, 0
        state.seen_before_ms = state.seen_ms
        return state.token

    async def renew(self, shard: ShardId, token: int, lease_ms: int, number: int = 0) -> bool:
        state = self._shard(shard)
        if state.token != token:
            return False
        state.seen_ms = self._now_ms()
        state.until_ms = state.seen_ms + lease_ms if lease_ms else 0
        self._notify(lease_ms == 0)
        if state.number < number:
            raise CommitsLost
        return True

    async def heartbeat(self, engine: str, body: str, lease_ms: int) -> dict[str, str]:
        until_ms, previous = self._now_ms() + lease_ms, self._engines.pop(engine, None)
        engines = self._engines
        if lease_ms and previous is not None and not self._is_alive(previous[0]):
            # If our own heartbeat is late, do not expire peers; extend all.
            engines = {
                name: (peer_until_ms if self._is_alive(peer_until_ms) else until_ms, peer_body)
                for name, (peer_until_ms, peer_body) in engines.items()
            }
        if lease_ms:
            engines[engine] = until_ms, body
        self._notify((lease_ms == 0) == (previous is not None))
        self._engines = {name: each for name, each in engines.items() if self._is_alive(each[0])}
        return {name: body for name, (_, body) in self._engines.items()}

    def _is_alive(self, until_ms: int) -> bool:
        return 0 < until_ms - self._now_ms() <= MAX_LEASE_MS

    async def last_seen_ms(self, shard: ShardId) -> int:
        return self._shard(shard).seen_before_ms

    async def owner(self, shard: ShardId) -> str:
        return self._shard(shard).owner

    async def membership_changes(self) -> AsyncIterator[None]:
        changed: asyncio.Queue[None] = asyncio.Queue(1)
        self._listeners.append(changed)
        try:
            while True:
                await changed.get()
                yield
        finally:
            self._listeners.remove(changed)

    async def create(self, shard: ShardId, token: int, change: Change) -> bool:
        state = self._owned(shard, token)
        stored = state.live.get(change.call_id)
        if stored is not None:
            return stored == (change.node, change.state)
        if change.call_id in state.ended:
            return False
        self.commit_now(shard, token, (change,))
        return True

    async def commit(
        self,
        shard: ShardId,
        token: int,
        changes: Sequence[Change],
        number: int = 0,
        sent: Sequence[str] = (),
    ) -> int:
        return self.commit_now(shard, token, changes, number, sent)

    def commit_now(
        self,
        shard: ShardId,
        token: int,
        changes: Sequence[Change],
        number: int = 0,
        sent: Sequence[str] = (),
    ) -> int:
        """Commit at once; raises Fenced."""
        state = self._owned(shard, token)
        state.number = number
        overflowed = sum(self._store(state, shard, change) for change in changes)
        state.unsent -= {*sent}
        return overflowed

    async def unsent(self, shard: ShardId) -> dict[str, bytes | None]:
        calls = sorted(self._shard(shard).unsent)
        return {call_id: await self.read(shard, call_id) for call_id in calls}

    async def live(self, shard: ShardId) -> AsyncIterator[tuple[str, str, bytes]]:
        for call_id, (node, state) in list(self._shard(shard).live.items()):
            yield call_id, node, state

    async def read(self, shard: ShardId, call_id: str) -> bytes | None:
        state = self._shard(shard)
        if call_id in state.live:
            return state.live[call_id][1]
        return _state_of(call_id, state.ended[call_id][1]) if call_id in state.ended else None

    async def ended(self, shard: ShardId) -> AsyncIterator[tuple[str, bytes]]:
        for each in (await self.ended_page(shard, 0))[1]:
            yield each

    async def ended_page(self, shard: ShardId, _cursor: int) -> tuple[int, list[tuple[str, bytes]]]:
        calls = self._shard(shard).ended.items()
        return 0, [(call_id, _state_of(call_id, record)) for call_id, (_, record) in calls]

    async def forget(self, shard: ShardId, call_id: str) -> None:
        state = self._shard(shard)
        state.ended.pop(call_id, None)
        state.logs.pop(call_id, None)

    async def compress_ended(
        self, tokens: Mapping[ShardId, int], after_ms: int, limit: int, dictionary: int
    ) -> int:
        until_ms, number = self._now_ms() - after_ms, 0
        for shard, token in tokens.items():
            state = self._shard(shard)
            due = [each for each, ended_ms in state.uncompressed.items() if ended_ms <= until_ms]
            for call_id in due[:limit] if state.token == token else ():
                number += 1
                del state.uncompressed[call_id]
                if call_id in state.ended:
                    expiry_ms, body = state.ended[call_id]
                    call = EndedCall(body, tuple(state.logs.pop(call_id)))
                    state.ended[call_id] = expiry_ms, compress(call_id, call, dictionary)
        return number

    async def remove_dead_letters(
        self, shard: ShardId, account: str, entries: Sequence[str]
    ) -> int:
        return self.callback_queue.remove_dead_letters(shard, account, entries)

    async def log(
        self, shard: ShardId, call_id: str, first: int = 0, limit: int | None = None
    ) -> list[bytes]:
        state = self._shard(shard)
        last = None if limit is None else first + limit
        if call_id in state.ended and is_compressed(state.ended[call_id][1]):
            return list(decompress(call_id, state.ended[call_id][1]).log[first:last])
        return list(state.logs.get(call_id, ())[first:last])

    async def workloads(self, shards: Sequence[ShardId]) -> list[Workload]:
        return [Workload(len(self._shard(s).live), self.callback_queue.calls(s)) for s in shards]

    async def used_ms(self, account: str, shards: Iterable[ShardId]) -> int:
        of_day = self._day(), account
        return sum(self._shard(shard).used.get(of_day, 0) for shard in shards)

    def _day(self) -> int:
        return self._now_ms() // DAY_MS

    async def time_ms(self) -> int:
        return self._now_ms()

    async def ping(self) -> None:
        pass

    async def servers(self) -> list[StoreServer]:
        return [StoreServer("memory")]

    async def close(self) -> None:
        pass

    def _notify(self, is_change: bool) -> None:
        for changed in self._listeners:
            if is_change and not changed.full():
                changed.put_nowait(None)

    def _shard(self, shard: ShardId) -> ShardState:
        state = self._shards.get(shard)
        if state is None:
            state = self._shards[shard] = ShardState()
        self._expire(state)
        return state

    def _owned(self, shard: ShardId, token: int) -> ShardState:
        state = self._shard(shard)
        if state.token != token:
            raise Fenced(shard, state.owner)
        return state

    def _expire(self, state: ShardState) -> None:
        now_ms = self._now_ms()
        # Calls expire in the order in which they have ended.
        while state.ended and (first := next(iter(state.ended.items())))[1][0] <= now_ms:
            del state.ended[first[0]]
            state.logs.pop(first[0], None)

    def _store(self, state: ShardState, shard: ShardId, change: Change) -> int:
        _, ended = state.ended.get(change.call_id, (0, b""))
        length = change.seq + len(change.log)
        if is_compressed(ended) and len(decompress(change.call_id, ended).log) >= length:
            return 0
        log = state.logs.setdefault(change.call_id, [])
        is_new = not log
        if len(log) >= length:
            return 0
        log.extend([b""] * (change.seq - len(log)))
        log.extend(change.log[len(log) - change.seq :])
        self.stream.append(shard, change.events)
        if change.live:
            state.live[change.call_id] = change.node, change.state
        else:
            was_live = state.live.pop(change.call_id, None) is not None
            if was_live or is_new:
                used = self._day(), change.account
                state.used[used] = state.used.get(used, 0) + change.used_ms
            state.ended.pop(change.call_id, None)
            state.ended[change.call_id] = self._now_ms() + self._retention_ms, change.state
            state.uncompressed.pop(change.call_id, None)
            state.uncompressed[change.call_id] = self._now_ms()
            if change.unsent:
                state.unsent.add(change.call_id)
        return self.callback_queue.append(shard, change) if change.callbacks else 0


def _state_of(call_id: str, record: bytes) -> bytes:
    return decompress(call_id, record).state if is_compressed(record) else record
