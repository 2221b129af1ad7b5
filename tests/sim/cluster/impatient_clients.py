"""Clients that hang up calls whose PBX is away."""

from collections.abc import Callable
from random import Random

from engine.calls.model.call import Call
from tests.sim.cluster.engine import Engine
from tests.sim.cluster.engines import Engines

EVERY_MS = (0, 1_500, 400)  # mean interval while a PBX is away; 0: never
RECHECK_MS = 6_000  # longer than a lease


class ImpatientClients:
    """Hangs up such calls at random times."""

    def __init__(self, engines: Engines, hang_up: Callable[[str], None], seed: int) -> None:
        self._engines = engines
        self._hang_up = hang_up
        self._counts = engines.env.faults.counts
        self._rng = Random(f"impatient {seed}")
        self._every_ms = self._rng.choice(EVERY_MS)

    def plan(self, within_ms: float) -> None:
        """Schedule all hangups."""
        for _ in range(int(within_ms / self._every_ms) if self._every_ms else 0):
            self._engines.env.clock.after(self._rng.uniform(500, within_ms), self._act)

    def _act(self) -> None:
        held = [(each, call) for each in self._engines.ready for call in each.calls]
        away = [(each, call) for each, call in held if self._is_away(call)]
        if away:
            engine, call = self._rng.choice(away)
            self._counts["hung up while away"] += 1
            self._hang_up(call.id)
            self._engines.env.clock.after(RECHECK_MS, self._look, None, call, engine)

    def _look(self, call: Call, before: Engine) -> None:
        """Count a call that has moved to another engine while its PBX is still away."""
        others = (each for each in self._engines.alive if each is not before)
        is_moved = any(mine.id == call.id for each in others for mine in each.calls)
        if is_moved and self._is_away(call):
            self._counts["hung up, and moved while away"] += 1

    def _is_away(self, call: Call) -> bool:
        return not self._engines.env.pbxs[call.id.split("-")[1]].is_up
