"""SimMemory: an in-memory store that can lose data; the checks still see what was lost."""

from collections.abc import Callable
from copy import copy

from engine.store.stream import StreamLimits
from tests.harness.memory_store.store import MemoryStore, ShardState
from tests.harness.memory_store.stream import MemoryStream
from wire.shard import ShardId

Layout = tuple[int, int, frozenset[str], dict[str, str]]
Replica = tuple[dict[ShardId, ShardState], dict[str, tuple[int, str]], MemoryStream, Layout]


class SimWallClock:
    """The wall clock of the store's host, which can be set."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._ahead_ms = 0

    def now_ms(self) -> int:
        """Return milliseconds since 1970."""
        return self._now_ms() + self._ahead_ms

    def jump(self, by_ms: int) -> None:
        self._ahead_ms += by_ms


class SimMemory(MemoryStore):
    """A store that can lose data, on a host whose clock can jump."""

    def __init__(self, now_ms: Callable[[], int], retention_s: float) -> None:
        self.wall = SimWallClock(now_ms)
        super().__init__(self.wall.now_ms, retention_s=retention_s)
        self.lost: list[dict[ShardId, ShardState]] = []  # the whole state before each loss
        self.granted: Callable[[ShardId, str, int], None] = _nothing
        self._replica = self._copied()

    async def claim(
        self, shard: ShardId, owner: str, lease_ms: int, holder: str = ""
    ) -> int | None:
        token = await super().claim(shard, owner, lease_ms, holder)
        if token is not None:
            self.granted(shard, owner, lease_ms)
        return token

    async def renew(self, shard: ShardId, token: int, lease_ms: int, number: int = 0) -> bool:
        if self._shard(shard).token == token:
            self.granted(shard, await self.owner(shard), lease_ms)
        return await super().renew(shard, token, lease_ms, number)

    def kept(self, shard: ShardId) -> ShardState:
        """Return the state of a shard."""
        return self._shard(shard)

    def replicate(self) -> None:
        """Copy all data to the replica; later writes are lost by `fail_over`."""
        self._replica = self._copied()

    def fail_over(self) -> None:
        """Continue with the replica's data."""
        self.lost.append(self._shards)
        self._shards, self._engines, self.stream, layout = self._replica
        self._set_layout(layout)

    def lose_all(self) -> None:
        self.lost.append(self._shards)
        self._shards, self._engines = {}, {}
        self.stream = MemoryStream(self._now_ms, StreamLimits())
        self._set_layout((0, 0, frozenset(), {}))

    def _copied(self) -> Replica:
        shards = {shard: _copy(kept) for shard, kept in self._shards.items()}
        layout = self._slots, self._highest, frozenset(self._nodes), dict(self._calls_of_requests)
        return shards, dict(self._engines), self.stream.copy(), layout

    def _set_layout(self, layout: Layout) -> None:
        self._slots, self._highest, nodes, calls = layout
        self._nodes, self._calls_of_requests = set(nodes), dict(calls)


def _nothing(shard: ShardId, owner: str, lease_ms: int) -> None:
    del shard, owner, lease_ms


def _copy(kept: ShardState) -> ShardState:
    twin = copy(kept)
    twin.live, twin.ended = dict(kept.live), dict(kept.ended)
    twin.logs = {call: list(lines) for call, lines in kept.logs.items()}
    return twin
