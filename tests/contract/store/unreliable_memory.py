"""A store in memory that can be out of reach, and can lose everything."""

import asyncio
from collections.abc import Callable
from typing import Any

from engine.store.errors import StoreDown
from engine.store.memory.dial_policy import MemoryDialPolicyStore
from engine.store.memory.store import MemoryStore
from engine.store.memory.stream import MemoryStream
from engine.store.stream import Batch, StreamLimits


class MoodyStream(MemoryStream):
    """Its streams, which can be, too."""

    check: Callable[[], None]

    async def read_after(self, *args: Any, **more: Any) -> list[tuple[int, str, bytes]]:
        """Read events, unless down."""
        self.check()
        return await super().read_after(*args, **more)

    async def read_group(self, *args: Any, **more: Any) -> Batch:
        """Read for a group, unless down."""
        self.check()
        return await super().read_group(*args, **more)


class MoodyTerms(MemoryDialPolicyStore):
    """Its terms, which can be lost."""

    def lose_all(self) -> None:
        """Be as a server that was emptied."""
        self._policies.clear()
        self._lists.clear()


class MoodyStore(MemoryStore):
    """The memory store, which can be out of reach."""

    down = False
    dial_policies: MoodyTerms

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.stream = MoodyStream(self._now_ms, options.get("stream_limits", StreamLimits()))
        self.stream.check = self._check
        self.dial_policies = MoodyTerms()

    def lose_all(self) -> None:
        """Be as a server that was emptied, as far as slots go."""
        self._slots.clear()

    async def commit(self, slot: int, token: int, changes: Any, number: int = 0) -> int:
        """Commit, unless down."""
        self._check()
        return await super().commit(slot, token, changes, number)

    async def read(self, slot: int, call_id: str) -> bytes | None:
        """Read, unless down; always a moment later, so that others come in between."""
        await asyncio.sleep(0)
        self._check()
        return await super().read(slot, call_id)

    async def ping(self) -> None:
        """Answer, unless down."""
        self._check()

    def _check(self) -> None:
        if self.down:
            raise StoreDown("in a bad mood")
