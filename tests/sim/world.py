"""A world: one seed's calls, phones, PBX, store and engine lives, from the first call to silence."""

import random
from collections.abc import Callable

import msgspec

from engine.runtime.switch import NoRoom
from engine.store.errors import StoreDown
from engine.store.memory import Memory
from tests.harness.sim_asterisk import SimAsterisk
from tests.harness.sim_clock import START_MS, SimClock
from tests.harness.sim_loop import leave_loop
from tests.harness.sim_media import length_ms
from tests.harness.sim_phone import SimPhones
from tests.harness.sim_store import done
from tests.harness.sim_webhooks import SimServers
from tests.sim import faults
from tests.sim.faults import Faults
from tests.sim.life import APP, LONGEST_MS, Broken, Life, Surroundings
from tests.sim.scenario import FLOWS, Scenarios

BEGIN_MS = 40_000  # calls begin, and faults happen, within this
END_MS = BEGIN_MS + LONGEST_MS + 120_000  # by then all must be over, also what is reaped
Trace = Callable[[float, str], None]


class World:
    """Runs one seed; what it leaves behind is for the checks."""

    def __init__(
        self,
        seed: int,
        calls: int,
        broken: Broken,
        trace: Trace | None = None,
        kinds: frozenset[str] | None = None,
    ) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.calls = calls
        self.clock = SimClock()
        kinds = faults.choose(self.rng) if kinds is None else kinds
        self.faults = Faults(self.clock, self.rng, kinds)
        self.phones = SimPhones(self.clock, self.rng)
        self.pbx = SimAsterisk(self.clock, self.phones, self._told, length_ms)
        self.phones.pbx = self.pbx
        self.memory = Memory(self.clock.now_ms, kept_s=1e9)
        self.scenarios = Scenarios(self.rng, trouble_with_media="media" in kinds)
        self.servers = SimServers(self.rng, self.scenarios.offer)
        self.lives: list[Life] = []
        self.refused = 0
        self._trace = trace
        self._broken = broken
        self._around = Surroundings(
            self.clock, self.rng, self.pbx, self.memory, self.servers, {}, self.faults
        )
        self.faults.crash = self._crash
        self.faults.is_well = self._is_well

    @property
    def life(self) -> Life:
        """The engine that lives now, or was the last to."""
        return self.lives[-1]

    def run(self) -> None:
        """Live it through."""
        try:
            self._put_flows()
            self._start()
            self._plan()
            self.clock.run(START_MS + BEGIN_MS)
            self.faults.is_over = True
            for until_ms in range(START_MS + BEGIN_MS, START_MS + END_MS, 5_000):
                self.clock.run(until_ms)
                if self._is_silent():
                    break
            self.clock.run(self.clock.at_ms + 1_000)
        finally:
            self.life.loop.die()
            self.clock.run(self.clock.at_ms)
            leave_loop()

    def say(self, words: str) -> None:
        """Trace something, if anybody wants to know."""
        if self._trace:
            self._trace(self.clock.at_ms - START_MS, words)

    # What happens from outside

    def _plan(self) -> None:
        rng = self.rng
        for number in range(self.calls):
            begin_ms = rng.uniform(50, BEGIN_MS)
            begin = self._call_in if rng.random() < 0.5 else self._call_out
            self.clock.after(begin_ms, lambda b=begin, n=number: b(n))  # type: ignore[misc]
        for kind, strike in (
            ("socket", self._lose_socket),
            ("restart", self._restart_pbx),
            ("store", self._lose_store),
        ):
            if kind in self.faults.kinds:
                for _ in range(rng.choice((1, 2, 3))):
                    self.clock.after(rng.uniform(500, BEGIN_MS), strike)

    def _call_in(self, number: int) -> None:
        dialled = f"100{number}"
        if self.rng.random() < 0.98:
            route = msgspec.json.encode(self.scenarios.route())
            done(self.memory.put_route(dialled, route))
        channel = self.pbx.arrives(f"1700.{number}", "+4799", dialled, APP)
        if channel.ended_ms is None:
            self.phones.calls(channel)

    def _call_out(self, number: int) -> None:
        asked = self.scenarios.outbound(f"s{self.seed:07d}c{number}")
        life = self.life
        if not life.is_ready:
            self.refused += 1
            return

        async def originate() -> None:
            try:
                call = await life.switch.originate(asked)
            except (NoRoom, StoreDown):
                self.refused += 1
                return
            if self.rng.random() < 0.06:
                hangup_ms = self.rng.choice((1, 300, 5_000, 20_000)) * self.rng.random()
                self.clock.after(hangup_ms, lambda: self._hang_up(call.id))

        life.loop.create_task(originate())

    def _hang_up(self, call_id: str) -> None:
        if self.life.is_ready:
            self.life.switch.hang_up(call_id, "api")

    # What goes wrong

    def _start(self) -> None:
        life = Life(self._around, len(self.lives), self._broken)
        if self._trace:
            life.line.trace = self.say
        self.lives.append(life)
        life.start()

    def _crash(self, boundary: str) -> None:
        self.say(f"** the engine dies at {boundary}")
        life = self.life
        if life.loop.is_dead:
            return
        life.die()
        self.faults.trouble(1)
        down_ms = self.rng.choice((20, 20, 100, 500, 3_000, 12_000)) * (0.5 + self.rng.random())

        def again() -> None:
            self.say("** an engine starts")
            is_up = life.line.is_up, life.store.is_up
            self._start()
            self.life.line.is_up, self.life.store.is_up = is_up

        self.clock.after(down_ms, again)

    def _lose_socket(self) -> None:
        life = self.life
        if not self.pbx.is_listened_to or not life.is_ready:
            return
        self.faults.counts["lost websocket"] += 1
        self.say("** the websocket is lost")
        self.pbx.is_listened_to = False
        self.faults.trouble(1)
        notices_ms = self.rng.choice((0, 0, 50, 6_000)) * self.rng.random()
        back_ms = notices_ms + self.rng.choice((60, 500, 5_000, 50_000)) * (0.5 + self.rng.random())
        self.clock.after(notices_ms, life.disconnect, life.loop)
        self.clock.after(back_ms, lambda: self._reconnect(life), life.loop)

    def _reconnect(self, life: Life) -> None:
        if life.line.is_up and not self.pbx.is_listened_to:
            self.say("** the websocket is back")
            life.connect()

    def _restart_pbx(self) -> None:
        life = self.life
        if not life.line.is_up or not life.is_ready:
            return
        self.faults.counts["pbx restart"] += 1
        self.say("** the PBX dies")
        was_listened_to, self.pbx.is_listened_to = self.pbx.is_listened_to, False
        life.line.is_up = False
        self.faults.trouble(1)
        self.pbx.restarts()
        if was_listened_to:
            life.disconnect()

        def again() -> None:
            self.say("** the PBX is back")
            self.life.line.is_up = True
            if self.life.is_ready and not self.pbx.is_listened_to:
                self.life.connect()

        self.clock.after(self.rng.choice((500, 5_000, 40_000)) * (0.5 + self.rng.random()), again)

    def _lose_store(self) -> None:
        if not self.life.store.is_up:
            return
        self.faults.counts["store down"] += 1
        self.say("** the store is down")
        self.life.store.is_up = False
        self.faults.trouble(1)

        def again() -> None:
            self.say("** the store is up")
            self.life.store.is_up = True

        self.clock.after(self.rng.choice((50, 1_000, 15_000)) * (0.5 + self.rng.random()), again)

    # How it stands

    def _told(self, event: object) -> None:
        self.life.line.told(event)  # type: ignore[arg-type]

    def _is_well(self) -> bool:
        life = self.life
        is_there = life.is_ready and life.line.is_up and life.store.is_up
        return is_there and self.pbx.is_listened_to and not life.desk.is_held and life.writer.healthy

    def _is_silent(self) -> bool:
        life = self.life
        is_idle = life.is_ready and not life.desk.actors and self._is_well()
        return is_idle and not self.pbx.channels and not self.pbx.bridges

    def _put_flows(self) -> None:
        for number in range(FLOWS):
            body = msgspec.json.encode(self.scenarios.verb(2))
            done(self.memory.put_flow("acc", f"flow{number}", body))
