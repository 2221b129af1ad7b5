"""A manual clock and a store that can fail, for engines that share shards."""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.store.errors import StoreDown
from engine.store.shard_layout import ShardLayout, Workload
from tests.harness.memory_store.store import MemoryStore
from wire.shard import ShardId


class ManualTime:
    """A manual clock: the engines' monotonic time, and the store's, which can be set apart."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self._ahead_s = 0.0

    def monotonic(self) -> float:
        """Return the time."""
        return self.now_s

    def now_ms(self) -> int:
        """Return the store's time in milliseconds."""
        return round((self.now_s + self._ahead_s) * 1000)

    def set_store(self, by_s: float) -> None:
        """Move only the store's clock."""
        self._ahead_s += by_s

    def pass_s(self, passing_s: float) -> None:
        """Move all clocks."""
        self.now_s += passing_s


class ManualStore(MemoryStore):
    """The memory store, which can be down and can lose its data."""

    connections = 0
    _is_connected = False

    is_down = False
    unanswered: frozenset[ShardId] = frozenset()  # whose claims succeed without an answer

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.reservations = 0  # of requests, also while it was down
        self.calls: Mapping[ShardId, int] = {}  # live, of shards; else what is stored

    async def claim(
        self, shard: ShardId, owner: str, lease_ms: int, holder: str = ""
    ) -> int | None:
        """Claim, unless down."""
        self._check()
        token = await super().claim(shard, owner, lease_ms, holder)
        if shard in self.unanswered:
            raise StoreDown("by hand: no answer")
        return token

    async def renew(self, shard: ShardId, token: int, lease_ms: int, number: int = 0) -> bool:
        """Renew, unless down."""
        self._check()
        return await super().renew(shard, token, lease_ms, number)

    async def heartbeat(self, engine: str, body: str, lease_ms: int) -> dict[str, str]:
        """Beat, unless down."""
        self._check()
        return await super().heartbeat(engine, body, lease_ms)

    async def workloads(self, shards: Sequence[ShardId]) -> list[Workload]:
        """Read, unless down."""
        self._check()
        if self.calls:
            return [Workload(self.calls.get(shard, 0)) for shard in shards]
        return await super().workloads(shards)

    async def shard_layout(self) -> ShardLayout:
        """Read, unless down."""
        self._check()
        return await super().shard_layout()

    async def reserve_request(self, request_id: str, call_id: str, instead_of: str = "") -> str:
        """Reserve, unless down."""
        self.reservations += 1
        self._check()
        return await super().reserve_request(request_id, call_id, instead_of)

    def lose_all(self) -> None:
        """Forget all; tokens keep growing, as the clock has them do in Valkey."""
        self.lose_calls()
        for kept in self._shards.values():
            kept.owner, kept.until_ms, kept.token = "", 0, kept.token + 1
        self._engines.clear()
        self._slots = self._highest = 0
        self._calls_of_requests.clear()
        self._nodes.clear()

    def fail_over(self) -> None:
        """Become a replica that knows the shards' owners but not their latest renewals."""
        self._is_connected = False
        self._engines.clear()
        for kept in self._shards.values():
            kept.until_ms = min(kept.until_ms, self._now_ms())

    def lose_calls(self) -> None:
        """Forget the calls, but not the shards' owners."""
        for kept in self._shards.values():
            kept.live.clear()
            kept.logs.clear()

    def _check(self) -> None:
        if self.is_down:
            self._is_connected = False
            raise StoreDown("by hand")
        self.connections += not self._is_connected
        self._is_connected = True
