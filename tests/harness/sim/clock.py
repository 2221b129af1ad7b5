"""SimClock: virtual time that advances only when no work is left; EngineClock for an engine."""

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from heapq import heappop, heappush

from msgspec import Struct

START_MS = 1_700_000_000_000
ZONE = "+00:00"
MAX_FIRED_AT_ONCE = 100_000


class SimTimer(Struct, eq=False):
    """A scheduled callback; a crash of `owner` cancels it."""

    callback: Callable[..., object] | None
    args: tuple[object, ...]
    owner: object

    def cancel(self) -> None:
        self.callback = None


class SimClock:
    """Virtual milliseconds since 1970; equal times keep their order."""

    def __init__(self, start_ms: float = START_MS) -> None:
        self.at_ms = start_ms
        self._soon: deque[SimTimer] = deque()
        self._later: list[tuple[float, int, SimTimer]] = []
        self._count = 0
        self._second = -1  # of the last timestamp
        self._second_text = ""

    def now_ms(self) -> int:
        """Return the wall clock in ms."""
        return int(self.at_ms)

    def timestamp(self) -> str:
        """Return the time in ARI's format."""
        second, ms = divmod(int(self.at_ms), 1000)
        if second != self._second:
            self._second = second
            self._second_text = datetime.fromtimestamp(second, UTC).isoformat()[: -len(ZONE)]
        return f"{self._second_text}.{ms:03}{ZONE}"

    def soon(
        self, callback: Callable[..., object], owner: object = None, *args: object
    ) -> SimTimer:
        """Schedule a callback before time advances."""
        timer = SimTimer(callback, args, owner)
        self._soon.append(timer)
        return timer

    def after(
        self, delay_ms: float, callback: Callable[..., object], owner: object = None, *args: object
    ) -> SimTimer:
        """Schedule a callback after a delay."""
        timer = SimTimer(callback, args, owner)
        self._count = count = self._count + 1
        due_ms = self.at_ms + delay_ms if delay_ms > 0 else self.at_ms
        heappush(self._later, (due_ms, count, timer))
        return timer

    def at(
        self, when_ms: float, callback: Callable[..., object], owner: object = None, *args: object
    ) -> SimTimer:
        """Schedule a callback at a time, or at once if it has passed."""
        timer = SimTimer(callback, args, owner)
        self._count = count = self._count + 1
        heappush(self._later, (max(self.at_ms, when_ms), count, timer))
        return timer

    def forget(self, owner: object) -> None:
        """Cancel all timers of a crashed owner, including those that its current step adds."""
        self._lose(owner)
        self._soon.appendleft(SimTimer(self._lose, (owner,), None))

    def _lose(self, owner: object) -> None:
        for timer in self._soon:
            if timer.owner is owner:
                timer.callback = None
        for _, _, timer in self._later:
            if timer.owner is owner:
                timer.callback = None

    def run(self, until_ms: float) -> None:
        """Advance time, running all timers that are due until then.

        A timer that is set again and again without a delay fails, as it would use a whole CPU.
        """
        later, soon, fired = self._later, self._soon, 0
        while True:
            while soon:
                timer = soon.popleft()
                if (callback := timer.callback) is not None:
                    callback(*timer.args)
            if not later or later[0][0] > until_ms:
                break
            due_ms, _, timer = heappop(later)
            fired = fired + 1 if due_ms == self.at_ms else 0
            if fired > MAX_FIRED_AT_ONCE:
                raise AssertionError(f"a timer is set again without a delay at {due_ms}")
            self.at_ms = due_ms
            if (callback := timer.callback) is not None:
                timer.callback = None
                callback(*timer.args)
        self.at_ms = max(self.at_ms, until_ms)


class EngineClock:
    """The clock of one engine process: its timers die with the owner."""

    def __init__(self, clock: SimClock, owner: object, offset_ms: int = 0) -> None:
        self.offset_ms = offset_ms
        self._clock = clock
        self._owner = owner

    def now_ms(self) -> int:
        """Return the wall clock in ms."""
        return int(self._clock.at_ms) + self.offset_ms

    def call_at(self, when_ms: float, callback: Callable[[], None]) -> SimTimer:
        """Schedule a callback at a time."""
        return self._clock.at(when_ms - self.offset_ms, callback, self._owner)
