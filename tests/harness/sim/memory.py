"""SimMemory: the store's twin on a host that can lose data, which the checks still have."""

from collections.abc import Callable
from copy import copy

from engine.store.memory.store import MemoryStore, SlotState
from engine.store.memory.stream import MemoryStream
from engine.store.stream import StreamLimits

Replica = tuple[dict[int, SlotState], dict[str, tuple[int, str]], MemoryStream]


class SimWallClock:
    """The wall clock of the store's host, which jumps when somebody sets it."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._ahead_ms = 0

    def now_ms(self) -> int:
        """Give milliseconds since 1970."""
        return self._now_ms() + self._ahead_ms

    def jump(self, by_ms: int) -> None:
        """Be set to another time."""
        self._ahead_ms += by_ms


class SimMemory(MemoryStore):
    """A store that forgets, by a clock that jumps."""

    def __init__(self, now_ms: Callable[[], int], retention_s: float) -> None:
        self.wall = SimWallClock(now_ms)
        super().__init__(self.wall.now_ms, retention_s=retention_s)
        self.lost: list[
            dict[int, SlotState]
        ] = []  # all that there was, each time some of it was lost
        self.granted: Callable[[int, str, int], None] = _nothing
        self._replica = self._copied()

    async def claim(self, slot: int, owner: str, lease_ms: int, holder: str = "") -> int | None:
        """See Store."""
        token = await super().claim(slot, owner, lease_ms, holder)
        if token is not None:
            self.granted(slot, owner, lease_ms)
        return token

    async def renew(self, slot: int, token: int, lease_ms: int, number: int = 0) -> bool:
        """See Store."""
        if self._slot(slot).token == token:
            self.granted(slot, await self.owner(slot), lease_ms)
        return await super().renew(slot, token, lease_ms, number)

    def kept(self, slot: int) -> SlotState:
        """Give all that it has of a slot."""
        return self._slot(slot)

    def replicate(self) -> None:
        """Have all of it copied, for the last time before its host dies."""
        self._replica = self._copied()

    def fail_over(self) -> None:
        """Be the replica: what was written since it was copied is lost."""
        self.lost.append(self._slots)
        self._slots, self._engines, self.stream = self._replica

    def lose_all(self) -> None:
        """Know nothing."""
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
