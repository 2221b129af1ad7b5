"""A world: one seed's calls, phones, PBX, store and engines."""

import random
from collections.abc import Callable, Mapping, Sequence

import msgspec

from engine.ari.generated.events import Event as AriEvent
from engine.calls.step import step
from engine.runtime.admission.node_selection import NoCapacity
from engine.runtime.pbx_nodes.recent_digits import RecentDigits
from engine.runtime.shard.step_runner import MAX_LOG_LINES, Core
from engine.store.errors import StoreDown
from tests.harness.memory_store.store import MemoryStore
from tests.harness.scenarios import graphs
from tests.harness.scenarios.scenario import (
    FLOWS,
    Scenarios,
    choose_before_answer,
    choose_forks,
    choose_habits,
    choose_on_errors,
    choose_pauses,
    choose_speech,
    choose_streams,
)
from tests.harness.sim.asterisk import SimAsterisk
from tests.harness.sim.clock import START_MS, SimClock
from tests.harness.sim.loop import leave_loop
from tests.harness.sim.media import length_ms
from tests.harness.sim.phone import SimPhones, choose_holds
from tests.harness.sim.recorder import Archive
from tests.harness.sim.store import done
from tests.harness.sim.streams.bots import MakeBot, SimBot
from tests.harness.sim.streams.callers import Callers, SimCallers
from tests.harness.sim.streams.gateway import SimGateway
from tests.harness.sim.streams.recognizers import SimRecognizer
from tests.harness.sim.webhooks import SimServers
from tests.harness.store.documents import put_flow, put_route
from tests.sim import faults, recorders
from tests.sim.ami_digits import shared_recent_digits
from tests.sim.controllers import CallControllers, Granted
from tests.sim.engine_run import APP, MAX_CALL_MS, EngineRun, Environment, PartOverrides
from tests.sim.fault_injector import FaultInjector
from tests.sim.faults import SLOW_MS, Faults
from tests.sim.gateway_faults import GatewayFaults
from tests.sim.recorders import Recorders
from tests.sim.requests import RequestChooser
from wire.rpc import Originate

EACH_MS = 1_600  # mean interval between calls
TAIL_MS = MAX_CALL_MS + 120_000  # by then all must be over, including the reaper's work
Trace = Callable[[float, str], None]


class World:
    """Runs one seed; the checks look at what it leaves behind."""

    def __init__(
        self,
        seed: int,
        calls: int,
        overrides: PartOverrides,
        trace: Trace | None = None,
        core: Core = step,
    ) -> None:
        self.seed = seed
        self.calls = calls
        self.refused = 0
        self.is_at_rest = False  # whether all calls ended and all faults are over
        self.max_log_lines = self._choose_max_log_lines()
        self.clock = SimClock()
        self._rng = rng = random.Random(seed)
        self.faults = self._choose_faults()
        self.phones = self._choose_phones()
        self.pbx = SimAsterisk(self.clock, self.phones, self._deliver, length_ms)
        self.phones.pbx = self.pbx
        bots = random.Random(f"bots {seed}")
        self.gateway = SimGateway(
            self.clock, self.pbx, bots, self._choose_callers(), self._choose_bots()
        )
        self.memory = MemoryStore(self.clock.now_ms, retention_s=1e9)
        self._records = self._choose_recorders()
        self.scenarios = Scenarios(
            rng,
            media_faults="media" in self.faults.kinds,
            messages=self._records.messages,
            pauses=choose_pauses(seed),
            on_errors=choose_on_errors(seed),
            habits=choose_habits(seed),
            before_answer=choose_before_answer(seed),
            streams=choose_streams(seed),
            forks=choose_forks(seed),
            speech=choose_speech(seed),
        )
        self.phones.habits = choose_habits(seed)
        self.servers = self._choose_servers()
        self.archive: Archive = {}
        self.graphs = self._choose_graphs()
        self.pbx.own_rng = self._records.own_rng
        self._trace = trace
        self._recent_digits = self._choose_recent_digits(overrides)
        env = Environment(
            self.clock,
            rng,
            self.pbx,
            self.memory,
            self.servers,
            {},
            self.faults,
            self.archive,
            self._records.archive_url,
            self._recent_digits,
            self.gateway,
            self.max_log_lines,
            core,
        )
        self._injector = FaultInjector(env, overrides, self._trace_fault if trace else None)
        self._controllers = self._call_controllers()

    @property
    def granted(self) -> list[Granted]:
        """The control requests that were granted."""
        return self._controllers.granted

    @property
    def recognizers(self) -> Mapping[str, SimRecognizer]:
        """Every recognizer that ever was, by stream."""
        return self.gateway.recognizers

    @property
    def gateway_gaps(self) -> Sequence[tuple[float, float]]:
        """When the gateway was away, or the engine got no reports of it."""
        return self.gateway.gaps

    @property
    def gateway_cuts(self) -> Sequence[tuple[float, float]]:
        """When the engine got no reports of the gateway, but its streams went on."""
        return self.gateway.cuts

    def has_ami_digits(self, begin_ms: float, end_ms: float) -> bool:
        """Return whether any engine that resumed calls in an interval had its digits from AMI."""
        del begin_ms, end_ms
        return self._recent_digits is not None

    @property
    def digits(self) -> list[tuple[str, str, int, int]]:
        """The DTMF events that engines received: channel, digit, time and length in ms."""
        return [each for engine in self._injector.engines for each in engine.connection.digits]

    @property
    def task_errors(self) -> list[str]:
        """Uncaught exceptions of the engines' tasks."""
        return [message for engine in self._injector.engines for message in engine.loop.task_errors]

    def run(self) -> None:
        begin_ms = self.calls * EACH_MS  # calls begin and faults happen within this time
        try:
            self._put_flows()
            self._injector.start()
            self._plan(begin_ms)
            self.clock.run(START_MS + begin_ms)
            self.faults.is_over = True
            for until_ms in range(START_MS + begin_ms, START_MS + begin_ms + TAIL_MS, 5_000):
                self.clock.run(until_ms)
                self.is_at_rest = self._is_silent()
                if self.is_at_rest:
                    break
            # Long enough to notice the last lost reply: it excuses violations until then.
            self.clock.run(self.clock.at_ms + SLOW_MS + 1_000)
        finally:
            self._injector.engine.loop.die()
            self.clock.run(self.clock.at_ms)
            leave_loop()

    # Choices of the seed, which a scripted world (tests/sim/planted/script.py) overrides.

    def _choose_faults(self) -> Faults:
        return Faults(self.clock, self._rng, faults.choose(self._rng))

    def _choose_phones(self) -> SimPhones:
        phones = SimPhones(self.clock, self._rng)
        phones.holds = choose_holds(self.seed)
        return phones

    def _choose_callers(self) -> Callers:
        return SimCallers(random.Random(f"callers {self.seed}"))

    def _choose_bots(self) -> MakeBot:
        return SimBot

    def _choose_max_log_lines(self) -> int:
        return MAX_LOG_LINES

    def _choose_recorders(self) -> Recorders:
        return recorders.choose(self.seed)

    def _choose_servers(self) -> SimServers:
        return SimServers(self._rng, self.scenarios.offer)

    def _choose_graphs(self) -> dict[str, bytes]:
        return graphs.choose(self.seed)

    def _choose_recent_digits(self, overrides: PartOverrides) -> RecentDigits | None:
        return shared_recent_digits(self.seed, self.pbx.manager, overrides, self.clock)

    def _call_controllers(self) -> CallControllers:
        # A separate random generator, so that worlds without control requests do not change.
        own_rng = random.Random(f"steer {self.seed}")
        self.phones.patience = own_rng.choice((1, 1, 4))
        has_media_faults = "media" in self.faults.kinds
        requests = RequestChooser(own_rng, Scenarios(own_rng, media_faults=has_media_faults))
        return CallControllers(self.clock, own_rng, requests, self._injector, self.faults.counts)

    def _plan(self, within_ms: float) -> None:
        for number in range(self.calls):
            begin_ms = self._rng.uniform(50, within_ms)
            begin = self._call_in if self._rng.random() < 0.5 else self._call_out
            self.clock.after(begin_ms, begin, None, number)
        self._injector.plan(within_ms)
        gateways = GatewayFaults(self.clock, self.faults.counts, self._trace_fault)
        if choose_streams(self.seed) is not None:
            gateways.plan_deaths(self.gateway, random.Random(f"gateway {self.seed}"), within_ms)
        if choose_speech(self.seed) is not None:
            own_rng = random.Random(f"speech gateway {self.seed}")
            gateways.plan_deaths(self.gateway, own_rng, within_ms)
            gateways.plan_cuts(self.gateway, own_rng, within_ms)
        self._controllers.plan(within_ms)

    def _call_in(self, number: int) -> None:
        dialled = f"100{number}"
        if self._rng.random() < 0.98:
            route = msgspec.json.encode(self._records.with_recording(self.scenarios.route()))
            done(put_route(self.memory, dialled, route))
        channel = self.pbx.arrives(f"1700.{number}", "+4799", dialled, APP)
        if channel.ended_ms is None:
            self.phones.calls(channel)

    def _call_out(self, number: int) -> None:
        request = self._records.with_recording(
            self.scenarios.outbound(f"s{self.seed:07d}c{number}")
        )
        engine = self._injector.engine
        if engine.is_ready:
            engine.loop.create_task(self._originate(engine, request))
        else:
            self.refused += 1

    async def _originate(self, engine: EngineRun, request: Originate) -> None:
        try:
            call = await engine.service.originate(request)
        except (NoCapacity, StoreDown):
            self.refused += 1
            return
        if self._rng.random() < 0.06:
            hangup_ms = self._rng.choice((1, 300, 5_000, 20_000)) * self._rng.random()
            self.clock.after(hangup_ms, self._hang_up, None, call.id)

    def _hang_up(self, call_id: str) -> None:
        engine = self._injector.engine
        if engine.is_ready:
            engine.loop.create_task(self._hung_up(engine, call_id))

    async def _hung_up(self, engine: EngineRun, call_id: str) -> None:
        try:
            await engine.service.hang_up(call_id, "api")
        except (NoCapacity, StoreDown):
            self.refused += 1

    def _deliver(self, event: AriEvent) -> None:
        self._injector.engine.connection.deliver(event)

    def _is_silent(self) -> bool:
        engine = self._injector.engine
        is_idle = engine.is_ready and not engine.shard.calls and self._injector.is_well()
        is_empty = not self.pbx.channels and not self.pbx.bridges and not self.pbx.files
        return is_idle and is_empty

    def _trace_fault(self, message: str) -> None:
        if self._trace:
            self._trace(self.clock.at_ms - START_MS, message)

    def _put_flows(self) -> None:
        for number in range(FLOWS):
            body = msgspec.json.encode(self.scenarios.verb(2))
            done(put_flow(self.memory, "acc", f"flow{number}", body))
        for name, body in self.graphs.items():
            done(put_flow(self.memory, "acc", name, body))
