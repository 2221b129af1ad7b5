"""SimStore: the in-memory store behind a network that fails before or after a commit."""

import random
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any, TypeVar

from engine.store.change import Change
from engine.store.errors import StoreDown
from tests.harness.memory_store.store import MemoryStore
from tests.harness.sim.events import SimFaults
from tests.harness.sim.loop import SimLoop
from wire.shard import ShardId

T = TypeVar("T")


class SimStore:
    """One engine's connection to the store: implements what the engine uses of Store."""

    def __init__(
        self,
        memory: MemoryStore,
        loop: SimLoop,
        faults: SimFaults,
        rng: random.Random,
    ) -> None:
        self.is_up = True
        self._memory = memory
        self._loop = loop
        self._faults = faults
        self._random = rng.random

    async def claim(
        self, shard: ShardId, owner: str, lease_ms: int, holder: str = ""
    ) -> int | None:
        return await self._memory.claim(shard, owner, lease_ms, holder)

    async def last_seen_ms(self, shard: ShardId) -> int:
        return await self._memory.last_seen_ms(shard)

    def live(self, shard: ShardId) -> AsyncIterator[tuple[str, str, bytes]]:
        return self._memory.live(shard)

    async def commit(
        self,
        shard: ShardId,
        token: int,
        changes: Sequence[Change],
        number: int = 0,
        sent: Sequence[str] = (),
    ) -> int:
        """Commit; the engine may die before it, or after it without seeing the reply."""
        await self._loop.sleep(0.2 + 0.3 * self._random())
        if not self.is_up:
            await self._loop.sleep(20)
            raise StoreDown("sim: down")
        self._faults.passes("commit")
        if self._loop.is_dead:
            return 0
        overflowed = self._memory.commit_now(shard, token, changes, number, sent)
        if self._faults.passes("committed") and self._faults.loses():
            raise StoreDown("sim: the answer was lost")
        return overflowed

    async def unsent(self, shard: ShardId) -> dict[str, bytes | None]:
        return await self._memory.unsent(shard)

    async def read(self, shard: ShardId, call_id: str) -> bytes | None:
        self._check()
        return await self._memory.read(shard, call_id)

    async def request_of(self, request_id: str) -> str | None:
        self._check()
        return await self._memory.request_of(request_id)

    async def reserve_request(self, request_id: str, call_id: str, instead_of: str = "") -> str:
        self._check()
        return await self._memory.reserve_request(request_id, call_id, instead_of)

    async def route(self, number: str) -> bytes | None:
        self._check()
        return await self._memory.route(number)

    async def flow(self, account: str, flow_id: str, version: int = 0) -> tuple[int, bytes] | None:
        await self._loop.sleep(0.5)
        self._check()
        return await self._memory.flow(account, flow_id, version)

    def _check(self) -> None:
        if not self.is_up:
            raise StoreDown("sim: down")


def done(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    raise AssertionError("it waits")
