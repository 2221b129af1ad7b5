"""A world of several engines: one seed's calls, PBXs, store and engines."""

from collections import ChainMap
from collections.abc import Callable
from random import Random

import msgspec

from engine.runtime.cluster.lease import LeaseTimings
from engine.runtime.shard.step_runner import MAX_LOG_LINES
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
from tests.harness.sim.clock import START_MS
from tests.harness.sim.loop import leave_loop
from tests.harness.sim.media import length_ms
from tests.harness.sim.memory import SimMemory
from tests.harness.sim.pbx import SimPbx
from tests.harness.sim.phone import SimPhones, choose_holds
from tests.harness.sim.recorder import Archive
from tests.harness.sim.redis import SimRedis
from tests.harness.sim.shared_clock import SharedClock
from tests.harness.sim.store import done
from tests.harness.sim.streams.bots import MakeBot, SimBot
from tests.harness.sim.streams.callers import Callers, SimCallers
from tests.harness.sim.streams.gateway import SimGateway
from tests.harness.sim.webhooks import SimServers
from tests.harness.store.documents import put_flow
from tests.sim import recorders
from tests.sim.cluster import faults
from tests.sim.cluster.clients import Clients
from tests.sim.cluster.combined_pbx import CombinedPbx
from tests.sim.cluster.engines import Engines
from tests.sim.cluster.environment import ClusterEnvironment, ClusterOverrides
from tests.sim.cluster.faults import ClusterFaults
from tests.sim.cluster.health_monitor import SHARED_MS, HealthMonitor
from tests.sim.cluster.impatient_clients import ImpatientClients
from tests.sim.cluster.lease_checker import LeaseChecker
from tests.sim.cluster.outages import Outages
from tests.sim.controllers import CallControllers, Granted
from tests.sim.engine_run import MAX_CALL_MS
from tests.sim.faults import SLOW_MS
from tests.sim.gateway_faults import GatewayFaults
from tests.sim.recorders import Recorders
from tests.sim.requests import RequestChooser
from wire.shard import ShardId

CALLS = 100
EACH_MS = 400  # mean interval between calls
TAIL_MS = MAX_CALL_MS + 120_000  # by then all must be over, including the reaper's work
ROLES_MS = 5_000  # until other engines have the roles of a dead one
SETTLED_MS = 1_000  # an engine must have listened for this time before
WEBSOCKET_SHARE = 0.9  # of worlds; in the others requests go over HTTP
NEW_CALLS = 8  # that an engine admits between its last heartbeat and a claim
UNLIMITED = 1_000_000  # calls of an engine
PATIENCE = 0.4  # factor on call lengths, which else are minutes
Trace = Callable[[float, str], None]


class ClusterWorld:
    """Runs one seed; the checks look at what it leaves behind."""

    def __init__(self, seed: int, overrides: ClusterOverrides, trace: Trace | None = None) -> None:
        self.seed = seed
        self.is_at_rest = False
        self.max_log_lines = self._choose_max_log_lines()
        self.clock = SharedClock()
        self.archive: Archive = {}
        self.graphs = self._choose_graphs()
        self._rng = rng = Random(seed)
        self.faults = ClusterFaults(self.clock, rng, self._choose_kinds())
        self._records = self._choose_recorders()
        self.memory = SimMemory(self.clock.now_ms, retention_s=1e9)
        has_media_faults = "media" in self.faults.kinds
        self.scenarios = Scenarios(
            rng,
            media_faults=has_media_faults,
            messages=self._records.messages,
            pauses=choose_pauses(seed),
            on_errors=choose_on_errors(seed),
            habits=choose_habits(seed),
            before_answer=choose_before_answer(seed),
            streams=choose_streams(seed),
            forks=choose_forks(seed),
            speech=choose_speech(seed),
        )
        self.servers = self._choose_servers()
        names = (f"pbx{number}" for number in range(1, self._choose_pbxs() + 1))
        pbxs = {name: self._pbx(name) for name in names}
        self._gateways = {name: self._gateway(pbx) for name, pbx in pbxs.items()}
        self.recognizers = ChainMap(*(each.recognizers for each in self._gateways.values()))
        self.lease_checker = LeaseChecker(self.clock, pbxs)
        self.memory.granted = self._granted
        say = (lambda message: trace(self.clock.at_ms - START_MS, message)) if trace else None
        self.env = ClusterEnvironment(
            clock=self.clock,
            rng=rng,
            pbxs=pbxs,
            gateways=self._gateways,
            redis=SimRedis(self.memory),
            servers=self.servers,
            faults=self.faults,
            lease_checker=self.lease_checker,
            archive=self.archive,
            archive_url=self._records.archive_url,
            slots=self._choose_slots(),
            capacity=self._choose_capacity(),
            timings=LeaseTimings(),
            overrides=overrides,
            max_log_lines=self.max_log_lines,
            keeps_order=Random(f"order {seed}").random() < WEBSOCKET_SHARE,
            cached_media={},
            say=say,
        )
        self.pbx = CombinedPbx(list(pbxs.values()))
        self.engines = Engines(self.env)
        self.faults.is_well = lambda: self.engines.is_well
        self.clients = Clients(self.engines, self.scenarios, self._records, seed)
        self.monitor = HealthMonitor(self.engines)
        self._outages = Outages(self.engines)
        self._impatient_clients = ImpatientClients(self.engines, self.clients.hang_up, seed)
        self._controllers = self._call_controllers()

    @property
    def granted(self) -> list[Granted]:
        """The control requests that were granted."""
        return self._controllers.granted

    @property
    def gateway_gaps(self) -> list[tuple[float, float]]:
        """When any gateway was away, or engines got no reports of it."""
        return [gap for each in self._gateways.values() for gap in each.gaps]

    @property
    def gateway_cuts(self) -> list[tuple[float, float]]:
        """When engines got no reports of any gateway, but its streams went on."""
        return [cut for each in self._gateways.values() for cut in each.cuts]

    @property
    def digits(self) -> list[tuple[str, str, int, int]]:
        """The DTMF events that engines received: channel, digit, time and length in ms."""
        connections = (
            connection
            for each in self.engines.all
            for connection in each.shards.connections.values()
        )
        return [digit for connection in connections for digit in connection.digits]

    def has_ami_digits(self, begin_ms: float, end_ms: float) -> bool:
        """Return whether any engine that resumed calls in an interval had its digits from AMI."""
        came_ms = (each.born_ms for each in self.engines.all)
        is_new = any(begin_ms - SETTLED_MS < at_ms < end_ms for at_ms in came_ms)
        # The deputy of a node may die with the engine that owned its shards.
        ends_ms = (each.died_ms for each in self.engines.all if each.died_ms is not None)
        deaths = sum(begin_ms - ROLES_MS < at_ms < end_ms for at_ms in ends_ms)
        # A frozen engine receives nothing; one with a dead network does not know it yet.
        return not is_new and deaths < 2 and not {"freeze", "cut pbx"} & self.faults.kinds

    @property
    def task_errors(self) -> list[str]:
        """Uncaught exceptions of the engines' tasks."""
        return [message for each in self.engines.all for message in each.loop.task_errors]

    def run(self) -> None:
        begin_ms = CALLS * EACH_MS  # calls begin and faults happen within this time
        try:
            self._put_flows()
            self.faults.disturb(1)  # until the shards are assigned
            for _ in range(self._choose_engines()):
                self.engines.start()
            self._plan(begin_ms)
            self.clock.run(START_MS + begin_ms)
            self.faults.is_over = True
            self._rest(START_MS + begin_ms)
        finally:
            for engine in self.engines.alive:
                engine.die()
            self.clock.run(self.clock.at_ms)
            leave_loop()

    def _plan(self, within_ms: float) -> None:
        self.clients.plan(CALLS, within_ms)
        self._outages.plan(within_ms)
        self._impatient_clients.plan(within_ms)
        self._controllers.plan(within_ms)
        if choose_streams(self.seed) or choose_speech(self.seed):
            gateway_faults = GatewayFaults(self.clock, self.faults.counts, self.engines.say)
            for name, gateway in self._gateways.items():
                own_rng = Random(f"gateway {self.seed} {name}")
                gateway_faults.plan_deaths(gateway, own_rng, within_ms)
                gateway_faults.plan_cuts(gateway, own_rng, within_ms)

    # Choices of the seed, which a scripted world (tests/sim/cluster/script.py) overrides.

    def _choose_kinds(self) -> frozenset[str]:
        return faults.choose(self._rng)

    def _choose_recorders(self) -> Recorders:
        return recorders.choose(self.seed)

    def _choose_servers(self) -> SimServers:
        return SimServers(self._rng, self.scenarios.offer)

    def _choose_graphs(self) -> dict[str, bytes]:
        return graphs.choose(self.seed)

    def _choose_phones(self) -> SimPhones:
        phones = SimPhones(self.clock, self._rng)
        phones.holds = choose_holds(self.seed)
        return phones

    def _choose_callers(self, name: str) -> Callers:
        return SimCallers(Random(f"callers {self.seed} {name}"))

    def _choose_bots(self) -> MakeBot:
        return SimBot

    def _choose_max_log_lines(self) -> int:
        return MAX_LOG_LINES

    def _choose_pbxs(self) -> int:
        return self._rng.choice((1, 2, 2, 3, 8))

    def _choose_slots(self) -> int:
        return self._rng.choice((1, 2, 4))

    def _choose_capacity(self) -> int:
        return Random(f"capacity {self.seed}").choice((UNLIMITED, UNLIMITED, UNLIMITED, 30))

    def _choose_engines(self) -> int:
        return self._rng.choice((1, 2, 2, 3, 6))

    def _rest(self, begin_ms: float) -> None:
        """Wait until all calls ended."""
        for until_ms in range(int(begin_ms), int(begin_ms) + TAIL_MS, 2_000):
            self.clock.run(until_ms)
            self.is_at_rest = self._is_silent()
            if self.is_at_rest and until_ms > self.faults.last_ms + SHARED_MS:
                break
        # Long enough to notice the last lost reply: it excuses violations until then.
        self.clock.run(self.clock.at_ms + SLOW_MS + 1_000)

    def _pbx(self, name: str) -> SimPbx:
        phones = self._choose_phones()
        phones.patience = PATIENCE
        phones.habits = choose_habits(self.seed)
        pbx = SimPbx(name, self.clock, phones, length_ms, self._rng)
        phones.pbx = pbx
        pbx.own_rng = self._records.own_rng
        return pbx

    def _gateway(self, pbx: SimPbx) -> SimGateway:
        bots = Random(f"bots {self.seed} {pbx.name}")
        callers = self._choose_callers(pbx.name)
        return SimGateway(self.clock, pbx, bots, callers, self._choose_bots())

    def _granted(self, shard: ShardId, engine: str, lease_ms: int) -> None:
        is_new = shard not in self.lease_checker.shards_of(engine)
        self.lease_checker.grant(shard, engine, lease_ms)
        if is_new:
            self._check_capacity(shard, engine)

    def _check_capacity(self, shard: ShardId, engine: str) -> None:
        """Find a shard with calls that an engine took although it had no room for them."""
        live = {each: len(self.memory.kept(each).live) for each in self.env.shards}
        calls = sum(live[each] for each in self.lease_checker.shards_of(engine))
        is_only = calls == live[shard]  # an engine without calls takes any shard
        if live[shard] and not is_only and calls > self.env.capacity + NEW_CALLS:
            message = f"{engine} took {shard} and has {calls} calls"
            self.lease_checker.violations.append(("", message))

    def _call_controllers(self) -> CallControllers:
        own_rng = Random(f"steer {self.seed}")
        has_media_faults = "media" in self.faults.kinds
        requests = RequestChooser(own_rng, Scenarios(own_rng, media_faults=has_media_faults))
        return CallControllers(self.clock, own_rng, requests, self.engines, self.faults.counts)

    def _is_silent(self) -> bool:
        is_idle = self.engines.is_well and not any(each.calls for each in self.engines.alive)
        pbx = self.pbx
        return is_idle and not pbx.channels and not pbx.bridges and not pbx.files

    def _put_flows(self) -> None:
        for number in range(FLOWS):
            body = msgspec.json.encode(self.scenarios.verb(2))
            done(put_flow(self.memory, "acc", f"flow{number}", body))
        for name, body in self.graphs.items():
            done(put_flow(self.memory, "acc", name, body))
