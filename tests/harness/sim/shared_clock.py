"""SharedClock: one virtual time for several engines, some of which may be frozen."""

import asyncio
import heapq

from tests.harness.sim.clock import SimClock, SimTimer
from tests.harness.sim.loop import SimLoop


class SharedClock(SimClock):
    """Runs each engine's callbacks on its own loop; those of a frozen engine wait."""

    def __init__(self) -> None:
        super().__init__()
        self._frozen: dict[object, list[SimTimer]] = {}
        self._enter_stasis: object = None

    def freeze(self, owner: object) -> None:
        """Freeze an engine as SIGSTOP does: time passes, and it does nothing."""
        self._frozen[owner] = []

    def thaw(self, owner: object) -> None:
        """Continue an engine with all callbacks that came due meanwhile."""
        self._soon.extend(self._frozen.pop(owner, ()))

    def forget(self, owner: object) -> None:
        self._frozen.pop(owner, None)
        super().forget(owner)

    def run(self, until_ms: float) -> None:
        """Advance time, running all timers that are due until then."""
        later, soon = self._later, self._soon
        while True:
            while soon:
                self._run(soon.popleft())
            if not later or later[0][0] > until_ms:
                break
            self.at_ms, _, timer = heapq.heappop(later)
            self._run(timer)
        self.at_ms = max(self.at_ms, until_ms)

    def _run(self, timer: SimTimer) -> None:
        callback, owner = timer.callback, timer.owner
        if callback is None:
            return
        if owner in self._frozen:
            self._frozen[owner].append(timer)
            return
        timer.callback = None
        if owner is not self._enter_stasis:
            self._enter(owner)
        callback(*timer.args)

    def _enter(self, owner: object) -> None:
        self._enter_stasis = owner
        loop = owner.as_loop if isinstance(owner, SimLoop) else None
        asyncio._set_running_loop(loop)  # noqa: SLF001 - the hook that asyncio offers to loops
