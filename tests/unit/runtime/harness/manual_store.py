"""A manual clock and a store that can fail, for engines that share slots."""

from engine.store.errors import StoreDown
from engine.store.memory.store import MemoryStore


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
    unanswered: frozenset[int] = frozenset()  # slots whose claims succeed without an answer

    async def claim(self, slot: int, owner: str, lease_ms: int, holder: str = "") -> int | None:
        """Claim, unless down."""
        self._check()
        token = await super().claim(slot, owner, lease_ms, holder)
        if slot in self.unanswered:
            raise StoreDown("by hand: no answer")
        return token

    async def renew(self, slot: int, token: int, lease_ms: int, number: int = 0) -> bool:
        """Renew, unless down."""
        self._check()
        return await super().renew(slot, token, lease_ms, number)

    async def heartbeat(self, engine: str, body: str, lease_ms: int) -> dict[str, str]:
        """Beat, unless down."""
        self._check()
        return await super().heartbeat(engine, body, lease_ms)

    def lose_all(self) -> None:
        """Forget all; tokens keep growing, as the clock has them do in Valkey."""
        self.lose_calls()
        for kept in self._slots.values():
            kept.owner, kept.until_ms, kept.token = "", 0, kept.token + 1
        self._engines.clear()

    def fail_over(self) -> None:
        """Become a replica that knows the slots' owners but not their latest renewals."""
        self._is_connected = False
        self._engines.clear()
        for kept in self._slots.values():
            kept.until_ms = min(kept.until_ms, self._now_ms())

    def lose_calls(self) -> None:
        """Forget the calls, but not the slots' owners."""
        for kept in self._slots.values():
            kept.live.clear()
            kept.logs.clear()

    def _check(self) -> None:
        if self.is_down:
            self._is_connected = False
            raise StoreDown("by hand")
        self.connections += not self._is_connected
        self._is_connected = True
