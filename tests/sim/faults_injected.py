"""What strikes a world from outside: engines die, websockets, PBXs and the store go and come."""

import random
from collections.abc import Callable

from tests.harness.sim.asterisk import SimAsterisk
from tests.harness.sim.clock import SimClock
from tests.sim.engine_run import Broken, Life, Surroundings
from tests.sim.faults import Faults


class Strikes:
    """The lives of a world's engine, and what ends them or cuts them off."""

    def __init__(
        self, around: Surroundings, broken: Broken, say: Callable[[str], None] | None
    ) -> None:
        self.lives: list[Life] = []
        self._around = around
        self._broken = broken
        self._trace = say
        self._clock: SimClock = around.clock
        self._rng: random.Random = around.rng
        self._pbx: SimAsterisk = around.pbx
        self._faults: Faults = around.faults
        self._faults.crash = self._crash
        self._faults.is_well = self.is_well

    @property
    def life(self) -> Life:
        """The engine that lives now, or was the last to."""
        return self.lives[-1]

    def start(self) -> None:
        """Start an engine."""
        life = Life(self._around, len(self.lives), self._broken)
        life.line.trace = self._trace
        self.lives.append(life)
        life.start()

    def plan(self, within_ms: float) -> None:
        """Choose when what will strike."""
        for kind, strike in (
            ("socket", self._lose_socket),
            ("restart", self._restart_pbx),
            ("store", self._lose_store),
        ):
            if kind in self._faults.kinds:
                for _ in range(self._rng.choice((1, 2, 3))):
                    self._clock.after(self._rng.uniform(500, within_ms), strike)

    def is_well(self) -> bool:
        """Tell whether all that an engine needs is there."""
        life = self.life
        is_there = life.is_ready and life.line.is_up and life.store.is_up
        is_heard = is_there and self._pbx.is_listened_to and not life.shard.is_paused
        return is_heard and life.writer.is_healthy

    def _crash(self, boundary: str) -> None:
        self._say(f"the engine dies at {boundary}")
        life = self.life
        if life.loop.is_dead:
            return
        life.die()
        self._faults.trouble(1)
        down_ms = self._some_ms(20, 20, 100, 500, 3_000, 12_000)
        self._clock.after(down_ms, self._start_again, None, life)

    def _start_again(self, before: Life) -> None:
        self._say("an engine starts")
        is_up = before.line.is_up, before.store.is_up
        self.start()
        self.life.line.is_up, self.life.store.is_up = is_up

    def _lose_socket(self) -> None:
        life = self.life
        if not self._pbx.is_listened_to or not life.is_ready:
            return
        self._begin("lost websocket")
        self._pbx.is_listened_to = False
        notices_ms = self._rng.choice((0, 0, 50, 6_000)) * self._rng.random()
        back_ms = notices_ms + self._some_ms(60, 500, 5_000, 50_000)
        self._clock.after(notices_ms, life.disconnect, life.loop, life.websockets)
        self._clock.after(back_ms, self._reconnect, life.loop, life)

    def _reconnect(self, life: Life) -> None:
        if life.line.is_up and not self._pbx.is_listened_to:
            self._say("the websocket is back")
            life.connect()

    def _restart_pbx(self) -> None:
        life = self.life
        if not life.line.is_up or not life.is_ready:
            return
        self._begin("pbx restart")
        was_listened_to, self._pbx.is_listened_to = self._pbx.is_listened_to, False
        life.line.is_up = False
        self._pbx.restarts()
        if was_listened_to:
            life.disconnect(life.websockets)
        self._clock.after(self._some_ms(500, 5_000, 40_000), self._pbx_is_back)

    def _pbx_is_back(self) -> None:
        self._say("the PBX is back")
        self.life.line.is_up = True
        if self.life.is_ready and not self._pbx.is_listened_to:
            self.life.connect()

    def _lose_store(self) -> None:
        if not self.life.store.is_up:
            return
        self._begin("store down")
        self.life.store.is_up = False
        self._clock.after(self._some_ms(50, 1_000, 15_000), self._store_is_up)

    def _store_is_up(self) -> None:
        self._say("the store is up")
        self.life.store.is_up = True

    def _begin(self, what: str) -> None:
        self._faults.counts[what] += 1
        self._say(what)
        self._faults.trouble(1)

    def _some_ms(self, *lengths_ms: float) -> float:
        return self._rng.choice(lengths_ms) * (0.5 + self._rng.random())

    def _say(self, words: str) -> None:
        if self._trace:
            self._trace(f"** {words}")
