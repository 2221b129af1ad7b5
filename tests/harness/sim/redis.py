"""SimRedis and SimLink: a store shared by several engines, and each engine's connection to it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from typing import TypeVar

from engine.store.change import Change
from engine.store.errors import Fenced, StoreDown
from engine.store.shard_layout import ShardLayout, Workload
from tests.harness.sim.events import SimFaults
from tests.harness.sim.loop import SimLoop
from tests.harness.sim.memory import SimMemory
from tests.harness.sim.store import done
from wire.shard import ShardId

T = TypeVar("T")
REFUSED_MS = 20.0
TIMEOUT_S = 2.0  # as RedisStore has it


class SimRedis:
    """The server."""

    def __init__(self, memory: SimMemory) -> None:
        self.memory = memory
        self.starts = 0
        self.is_up = True
        self.is_full = False  # whether it refuses writes
        self.is_silent = False  # whether it hangs
        self._unread: list[Callable[[], None]] = []

    def come_up(self) -> None:
        """Accept connections again."""
        self.is_up = True
        self.starts += 1

    @property
    def is_well(self) -> bool:
        """Return whether it serves reads and writes."""
        return self.is_up and not self.is_full and not self.is_silent

    def reads(self, request: Callable[[], None]) -> None:
        """Run a request, or queue it while the server hangs."""
        if self.is_silent:
            self._unread.append(request)
        else:
            request()

    def wake(self) -> None:
        """Continue with all queued requests, even those whose client has timed out."""
        self.is_silent = False
        unread, self._unread = self._unread, []
        for request in unread:
            request()


class SimLink:
    """One engine's connection to the store: implements what the engine uses of Store."""

    def __init__(
        self, redis: SimRedis, loop: SimLoop, faults: SimFaults, random: Callable[[], float]
    ) -> None:
        self.is_cut = False  # whether the network drops all requests
        self.connections = 0
        self._leads_to = -1  # the server start it is connected to; -1: none
        self._redis = redis
        self._memory = redis.memory
        self._loop = loop
        self._faults = faults
        self._random = random

    @property
    def is_up(self) -> bool:
        """Return whether the store can be reached and written."""
        return self._redis.is_well and not self.is_cut

    async def claim(
        self, shard: ShardId, owner: str, lease_ms: int, holder: str = ""
    ) -> int | None:
        return await self._write(lambda: done(self._memory.claim(shard, owner, lease_ms, holder)))

    async def renew(self, shard: ShardId, token: int, lease_ms: int, number: int = 0) -> bool:
        return await self._write(lambda: done(self._memory.renew(shard, token, lease_ms, number)))

    async def heartbeat(self, engine: str, body: str, lease_ms: int) -> dict[str, str]:
        return await self._write(lambda: done(self._memory.heartbeat(engine, body, lease_ms)))

    async def last_seen_ms(self, shard: ShardId) -> int:
        return await self._request(lambda: done(self._memory.last_seen_ms(shard)))

    async def owner(self, shard: ShardId) -> str:
        return await self._request(lambda: done(self._memory.owner(shard)))

    def membership_changes(self) -> AsyncIterator[None]:
        return self._memory.membership_changes()

    async def commit(
        self,
        shard: ShardId,
        token: int,
        changes: Sequence[Change],
        number: int = 0,
        sent: Sequence[str] = (),
    ) -> None:
        await self._write(lambda: self._memory.commit_now(shard, token, changes, number, sent))

    async def unsent(self, shard: ShardId) -> dict[str, bytes | None]:
        return await self._request(lambda: done(self._memory.unsent(shard)))

    async def live(self, shard: ShardId) -> AsyncIterator[tuple[str, str, bytes]]:
        for each in await self._request(lambda: done(_all(self._memory.live(shard)))):
            yield each

    async def read(self, shard: ShardId, call_id: str) -> bytes | None:
        return await self._request(lambda: done(self._memory.read(shard, call_id)))

    async def workloads(self, shards: Sequence[ShardId]) -> list[Workload]:
        return await self._request(lambda: done(self._memory.workloads(shards)))

    async def shard_layout(self) -> ShardLayout:
        return await self._request(lambda: done(self._memory.shard_layout()))

    async def add_nodes(self, nodes: Collection[str], slots: int, highest: int = 0) -> int:
        return await self._write(lambda: done(self._memory.add_nodes(nodes, slots, highest)))

    async def request_of(self, request_id: str) -> str | None:
        return await self._request(lambda: done(self._memory.request_of(request_id)))

    async def reserve_request(self, request_id: str, call_id: str, instead_of: str = "") -> str:
        return await self._write(
            lambda: done(self._memory.reserve_request(request_id, call_id, instead_of))
        )

    async def route(self, number: str) -> bytes | None:
        return await self._request(lambda: done(self._memory.route(number)))

    async def flow(self, account: str, flow_id: str, version: int = 0) -> tuple[int, bytes] | None:
        return await self._request(lambda: done(self._memory.flow(account, flow_id, version)))

    async def _write(self, do: Callable[[], T]) -> T:
        if self._redis.is_full and not self.is_cut:
            await self._loop.sleep(1)
            self._leads_to = -1
            raise StoreDown("sim: OOM command not allowed")
        return await self._request(do)

    async def _request(self, do: Callable[[], T]) -> T:
        try:
            return await self._sent(do)
        except StoreDown:
            self._leads_to = -1
            raise

    async def _sent(self, do: Callable[[], T]) -> T:
        await self._loop.sleep(0.2 + 0.3 * self._random())
        if self.is_cut:
            await self._loop.sleep(TIMEOUT_S * 1000)
            raise StoreDown("sim: no answer")
        if not self._redis.is_up:
            await self._loop.sleep(REFUSED_MS)
            raise StoreDown("sim: refused")
        self._connect()
        if not self._faults.passes("stores"):
            await self._loop.create_future()
        if self._redis.is_silent:
            return await self._waited(do)
        got = do()
        if not self._faults.passes("stored"):
            await self._loop.create_future()
        if self._faults.loses():
            raise StoreDown("sim: the answer was lost")
        return got

    def _connect(self) -> None:
        if self._leads_to != self._redis.starts:
            self._leads_to = self._redis.starts
            self.connections += 1

    async def _waited(self, do: Callable[[], T]) -> T:
        answer: asyncio.Future[T] = self._loop.create_future()

        def late() -> None:
            try:
                got = do()
            except Fenced as fenced:
                if self._is_awaited(answer):
                    answer.set_exception(fenced)
            else:
                if self._is_awaited(answer):
                    answer.set_result(got)

        self._redis.reads(late)
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await answer
        except TimeoutError:
            raise StoreDown("sim: no answer") from None

    def _is_awaited(self, answer: asyncio.Future[T]) -> bool:
        return not answer.done() and not self._loop.is_dead


async def _all(found: AsyncIterator[tuple[str, str, bytes]]) -> list[tuple[str, str, bytes]]:
    return [each async for each in found]
