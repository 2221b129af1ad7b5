"""SimMemory: an in-memory store that can lose data; the checks still see what was lost."""

from collections.abc import Callable
from copy import copy

from engine.store.memory.store import MemoryStore, SlotState
from engine.store.memory.stream import MemoryStream
from engine.store.stream import StreamLimits

Replica = tuple[dict[int, SlotState], dict[str, tuple[int, str]], MemoryStream]


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
        self.lost: list[dict[int, SlotState]] = []  # the whole state before each loss
        self.granted: Callable[[int, str, int], None] = _nothing
        self._replica = self._copied()

    async def claim(self, slot: int, owner: str, lease_ms: int, holder: str = "") -> int | None:
        token = await super().claim(slot, owner, lease_ms, holder)
        if token is not None:
            self.granted(slot, owner, lease_ms)
        return token

    async def renew(self, slot: int, token: int, lease_ms: int, number: int = 0) -> bool:
        if self._slot(slot).token == token:
            self.granted(slot, await self.owner(slot), lease_ms)
        return await super().renew(slot, token, lease_ms, number)

    def kept(self, slot: int) -> SlotState:
        """Return the state of a slot."""
        return self._slot(slot)

    def replicate(self) -> None:
        """Copy all data to the replica; later writes are lost by `fail_over`."""
        self._replica = self._copied()

    def fail_over(self) -> None:
        """Continue with the replica's data."""
        self.lost.append(self._slots)
        self._slots, self._engines, self.stream = self._replica

    def lose_all(self) -> None:
        self.lost.append(self._slots)
        self._slots, self._engines = {}, {}
        self.stream = MemoryStream(self._now_ms, StreamLimits())

    def _copied(self) -> Replica:
        slots = {slot: _copy(kept) for slot, kept in self._slots.items()}
        return slots, dict(self._engines), self.stream.copy()


def _nothing(slot: int, owner: str, lease_ms: int) -> None:
    del slot, owner, lease_ms


def _copy(kept: SlotState) -> SlotState:
    twin = copy(kept)
    twin.live, twin.ended = dict(kept.live), dict(kept.ended)
    twin.logs = {call: list(lines) for call, lines in kept.logs.items()}
    return twin
