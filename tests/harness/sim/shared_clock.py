"""SharedClock: one virtual time for several engines, of which some may stand frozen."""

import asyncio
import heapq

from tests.harness.sim.clock import SimClock, SimTimer
from tests.harness.sim.loop import SimLoop


class SharedClock(SimClock):
    """Has each engine's work done on its own loop; what a frozen one has to do waits."""

    def __init__(self) -> None:
        super().__init__()
        self._frozen: dict[object, list[SimTimer]] = {}
        self._enter_stasis: object = None

    def freeze(self, owner: object) -> None:
        """Let an engine stand still, as SIGSTOP does: time passes, and it does nothing."""
        self._frozen[owner] = []

    def thaw(self, owner: object) -> None:
        """Let it go on with all that was due meanwhile, at once."""
        self._soon.extend(self._frozen.pop(owner, ()))

    def forget(self, owner: object) -> None:
        """Lose all that an owner had to do."""
        self._frozen.pop(owner, None)
        super().forget(owner)

    def run(self, until_ms: float) -> None:
        """Let time pass up to a moment."""
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
        asyncio._set_running_loop(loop)  # noqa: SLF001 - what asyncio offers to loops
