"""A memory store that can be down, and can lose its data."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from engine.store.errors import StoreDown
from engine.store.stream import Batch, StreamLimits
from tests.harness.memory_store.documents import MemoryDialPolicyStore
from tests.harness.memory_store.store import MemoryStore
from tests.harness.memory_store.stream import MemoryStream
from wire.shard import ShardId


class UnreliableStream(MemoryStream):
    """Streams that can be down."""

    check: Callable[[], None]

    async def read_after(self, *args: Any, **more: Any) -> list[tuple[ShardId, str, bytes]]:
        """Read events, unless down."""
        self.check()
        return await super().read_after(*args, **more)

    async def read_group(self, *args: Any, **more: Any) -> Batch:
        """Read for a group, unless down."""
        self.check()
        return await super().read_group(*args, **more)


class UnreliableDialPolicyStore(MemoryDialPolicyStore):
    """Dial policies that can be lost."""

    def lose_all(self) -> None:
        """Delete everything, as on an emptied server."""
        self._policies.clear()
        self._lists.clear()


class UnreliableStore(MemoryStore):
    """The memory store that can be down."""

    down = False
    dial_policies: UnreliableDialPolicyStore

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.stream = UnreliableStream(self._now_ms, options.get("stream_limits", StreamLimits()))
        self.stream.check = self._check
        self.dial_policies = UnreliableDialPolicyStore()

    def lose_all(self) -> None:
        """Delete all shards, as on an emptied server."""
        self._shards.clear()

    async def commit(
        self, shard: ShardId, token: int, changes: Any, number: int = 0, sent: Any = ()
    ) -> int:
        """Commit, unless down."""
        self._check()
        return await super().commit(shard, token, changes, number, sent)

    async def ended(self, shard: ShardId) -> AsyncIterator[tuple[str, bytes]]:
        """Read ended calls, unless down."""
        self._check()
        async for each in super().ended(shard):
            yield each

    async def read(self, shard: ShardId, call_id: str) -> bytes | None:
        """Read, unless down; yields first, so that other tasks run in between."""
        await asyncio.sleep(0)
        self._check()
        return await super().read(shard, call_id)

    async def ping(self) -> None:
        """Respond, unless down."""
        self._check()

    def _check(self) -> None:
        if self.down:
            raise StoreDown("server:6379: test fault")
