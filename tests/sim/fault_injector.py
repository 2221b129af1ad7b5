"""Faults of a world: its engine dies, and its websocket, PBX and store go away and return."""

import random
from collections.abc import Callable

from engine.runtime.pbx_nodes.recent_digits import RETENTION_MS
from tests.harness.sim.asterisk import SimAsterisk
from tests.harness.sim.clock import SimClock
from tests.sim.engine_run import EngineRun, Environment, PartOverrides
from tests.sim.faults import Faults


class FaultInjector:
    """Runs the engine of a world, restarts it after crashes, and injects faults."""

    def __init__(
        self, env: Environment, overrides: PartOverrides, say: Callable[[str], None] | None
    ) -> None:
        self.engines: list[EngineRun] = []
        self._env = env
        self._overrides = overrides
        self._trace = say
        self._clock: SimClock = env.clock
        self._rng: random.Random = env.rng
        self._pbx: SimAsterisk = env.pbx
        self._faults: Faults = env.faults
        self._faults.crash = self._crash
        self._faults.is_well = self.is_well

    @property
    def engine(self) -> EngineRun:
        """The current engine, or the last one."""
        return self.engines[-1]

    def start(self) -> None:
        engine = EngineRun(self._env, len(self.engines), self._overrides)
        engine.connection.trace = self._trace
        self.engines.append(engine)
        engine.start()

    def plan(self, within_ms: float) -> None:
        """Schedule all faults."""
        for kind, inject in (
            ("socket", self._lose_socket),
            ("restart", self._restart_pbx),
            ("store", self._lose_store),
        ):
            if kind in self._faults.kinds:
                for _ in range(self._rng.choice((1, 2, 3))):
                    self._clock.after(self._rng.uniform(500, within_ms), inject)

    def is_well(self) -> bool:
        """Return whether no fault has an effect any more."""
        engine = self.engine
        is_there = engine.is_ready and engine.connection.is_up and engine.store.is_up
        is_heard = is_there and self._pbx.is_listened_to and not engine.shard.is_paused
        return is_heard and engine.writer.is_healthy

    def _crash(self, boundary: str) -> None:
        self._trace_fault(f"the engine dies at {boundary}")
        engine = self.engine
        if engine.loop.is_dead:
            return
        engine.die()
        self._faults.disturb(1)
        down_ms = self._some_ms(20, 20, 100, 500, 3_000, 12_000)
        self._clock.after(down_ms, self._start_again, None, engine)

    def _start_again(self, previous: EngineRun) -> None:
        self._trace_fault("an engine starts")
        is_up = previous.connection.is_up, previous.store.is_up
        self.start()
        self.engine.connection.is_up, self.engine.store.is_up = is_up

    def _lose_socket(self) -> None:
        engine = self.engine
        if not self._pbx.is_listened_to or not engine.is_ready:
            return
        self._begin("lost websocket")
        self._pbx.is_listened_to = False
        notices_ms = self._rng.choice((0, 0, 50, 6_000)) * self._rng.random()
        # A PBX that answers is connected again before AMI's digits of the outage expire.
        back_ms = min(notices_ms + self._some_ms(60, 500, 5_000, 50_000), RETENTION_MS - 5_000)
        self._clock.after(notices_ms, engine.disconnect, engine.loop, engine.websockets)
        self._clock.after(back_ms, self._reconnect, engine.loop, engine)

    def _reconnect(self, engine: EngineRun) -> None:
        if engine.connection.is_up and not self._pbx.is_listened_to:
            self._trace_fault("the websocket is back")
            engine.connect()

    def _restart_pbx(self) -> None:
        engine = self.engine
        if not engine.connection.is_up or not engine.is_ready:
            return
        self._begin("pbx restart")
        was_listened_to, self._pbx.is_listened_to = self._pbx.is_listened_to, False
        engine.connection.is_up = False
        self._pbx.restart()
        if was_listened_to:
            engine.disconnect(engine.websockets)
        self._clock.after(self._some_ms(500, 5_000, 40_000), self._pbx_is_back)

    def _pbx_is_back(self) -> None:
        self._trace_fault("the PBX is back")
        self.engine.connection.is_up = True
        if self.engine.is_ready and not self._pbx.is_listened_to:
            self.engine.connect()

    def _lose_store(self) -> None:
        if not self.engine.store.is_up:
            return
        self._begin("store down")
        self.engine.store.is_up = False
        self._clock.after(self._some_ms(50, 1_000, 15_000), self._store_is_up)

    def _store_is_up(self) -> None:
        self._trace_fault("the store is back")
        self.engine.store.is_up = True

    def _begin(self, what: str) -> None:
        self._faults.counts[what] += 1
        self._trace_fault(what)
        self._faults.disturb(1)

    def _some_ms(self, *lengths_ms: float) -> float:
        return self._rng.choice(lengths_ms) * (0.5 + self._rng.random())

    def _trace_fault(self, message: str) -> None:
        if self._trace:
            self._trace(f"** {message}")
