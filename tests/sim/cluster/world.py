"""A world of several engines: one seed's calls, nodes, store and engines, from first to last."""

from collections.abc import Callable
from random import Random

import msgspec

from engine.runtime.cluster.timings import LeaseTimings
from tests.harness.sim.clock import START_MS
from tests.harness.sim.loop import leave_loop
from tests.harness.sim.media import length_ms
from tests.harness.sim.memory import SimMemory
from tests.harness.sim.pbx import SimPbx
from tests.harness.sim.phone import SimPhones
from tests.harness.sim.recorder import Filed
from tests.harness.sim.redis import SimRedis
from tests.harness.sim.shared_clock import SharedClock
from tests.harness.sim.store import done
from tests.harness.sim.webhooks import SimServers
from tests.sim import graphs, recorders
from tests.sim.cluster import network
from tests.sim.cluster.engines import Crew
from tests.sim.cluster.environment import Cracked, Ground
from tests.sim.cluster.frontend import Front
from tests.sim.cluster.impatient_client import Impatient
from tests.sim.cluster.network import Weather
from tests.sim.cluster.observed import SeenPbx
from tests.sim.cluster.outages import Outages
from tests.sim.cluster.owners import Owners
from tests.sim.cluster.watch import SHARED_MS, Watch
from tests.sim.controllers import Granted, Steerers
from tests.sim.engine_run import LONGEST_MS
from tests.sim.faults import SLOW_MS
from tests.sim.requests import Wishes
from tests.sim.scenario import FLOWS, Scenarios

CALLS = 100
EACH_MS = 400  # calls begin so far apart on average
TAIL_MS = LONGEST_MS + 120_000  # by then all must be over, also what is reaped
SETTLED_MS = 1_000  # an engine has heard for so long what it may have to tell
PATIENCE = 0.4  # of the people, who else would stay for minutes
Trace = Callable[[float, str], None]


class World:
    """Runs one seed; what it leaves behind is for the checks."""

    def __init__(self, seed: int, cracked: Cracked, trace: Trace | None = None) -> None:
        self.seed = seed
        self.is_at_rest = False
        self.clock = SharedClock()
        self.archive: Filed = {}
        self.graphs = graphs.choose(seed)
        self._rng = rng = Random(seed)
        self.faults = Weather(self.clock, rng, network.choose(rng))
        self._records = recorders.choose(seed)
        self.memory = SimMemory(self.clock.now_ms, retention_s=1e9)
        has_trouble = "media" in self.faults.kinds
        self.scenarios = Scenarios(
            rng, trouble_with_media=has_trouble, messages=self._records.messages
        )
        self.servers = SimServers(rng, self.scenarios.offer)
        pbxs = {name: self._pbx(name) for name in ("pbx1", "pbx2")[: rng.choice((1, 2))]}
        self.owners = Owners(self.clock, pbxs)
        self.memory.granted = self._granted
        say = (lambda words: trace(self.clock.at_ms - START_MS, words)) if trace else None
        self.ground = Ground(
            clock=self.clock,
            rng=rng,
            pbxs=pbxs,
            redis=SimRedis(self.memory),
            servers=self.servers,
            weather=self.faults,
            owners=self.owners,
            archive=self.archive,
            archive_url=self._records.archive_url,
            slots=rng.choice((2, 4, 8)),
            rhythm=LeaseTimings(),
            cracked=cracked,
            at_hand={},
            say=say,
        )
        self.pbx = SeenPbx(list(pbxs.values()))
        self.crew = Crew(self.ground)
        self.faults.is_well = lambda: self.crew.is_well
        self.front = Front(self.crew, self.scenarios, self._records, seed)
        self.watch = Watch(self.crew)
        self._outages = Outages(self.crew)
        self._impatient = Impatient(self.crew, self.front.hang_up, seed)
        self._steerers = self._choose_steerers()

    @property
    def granted(self) -> list[Granted]:
        """What somebody asked of a call and was not refused."""
        return self._steerers.granted

    @property
    def digits(self) -> list[tuple[str, str, int]]:
        """The keys that engines heard: channel, digit, when."""
        lines = (line for each in self.crew.all for line in each.shards.lines.values())
        return [digit for line in lines for digit in line.digits]

    def overhears(self, begin_ms: float, end_ms: float) -> bool:
        """Tell whether who took calls up in a time has heard the keys of that time."""
        came_ms = (each.born_ms for each in self.crew.all)
        is_new = any(begin_ms - SETTLED_MS < at_ms < end_ms for at_ms in came_ms)
        # Who is frozen hears nothing, and who has a dead network to a PBX does not know it yet.
        return not is_new and not {"freeze", "cut pbx"} & self.faults.kinds

    @property
    def broken(self) -> list[str]:
        """What escaped from engines' tasks."""
        return [words for each in self.crew.all for words in each.loop.broken]

    def run(self) -> None:
        """Live it through."""
        begin_ms = CALLS * EACH_MS  # within this, calls begin and faults happen
        try:
            self._put_flows()
            self.faults.trouble(1)  # until the slots are shared
            for _ in range(self._rng.choice((1, 2, 2, 3))):
                self.crew.start()
            self.front.plan(CALLS, begin_ms)
            self._outages.plan(begin_ms)
            self._impatient.plan(begin_ms)
            self._steerers.plan(begin_ms)
            self.clock.run(START_MS + begin_ms)
            self.faults.is_over = True
            self._rest(START_MS + begin_ms)
        finally:
            for engine in self.crew.alive:
                engine.die()
            self.clock.run(self.clock.at_ms)
            leave_loop()

    def _rest(self, begin_ms: float) -> None:
        """Wait until all is over."""
        for until_ms in range(int(begin_ms), int(begin_ms) + TAIL_MS, 2_000):
            self.clock.run(until_ms)
            self.is_at_rest = self._is_silent()
            if self.is_at_rest and until_ms > self.faults.last_ms + SHARED_MS:
                break
        # Long enough for the last lost answer to be noticed: what it excuses counts till then.
        self.clock.run(self.clock.at_ms + SLOW_MS + 1_000)

    def _pbx(self, name: str) -> SimPbx:
        phones = SimPhones(self.clock, self._rng)
        phones.patience = PATIENCE
        pbx = SimPbx(name, self.clock, phones, length_ms, self._rng)
        phones.pbx = pbx
        pbx.chance = self._records.chance
        return pbx

    def _granted(self, slot: int, engine: str, lease_ms: int) -> None:
        self.owners.has(slot, engine, lease_ms)

    def _choose_steerers(self) -> Steerers:
        chance = Random(f"steer {self.seed}")
        has_trouble = "media" in self.faults.kinds
        wishes = Wishes(chance, Scenarios(chance, trouble_with_media=has_trouble))
        return Steerers(self.clock, chance, wishes, self.crew, self.faults.counts)

    def _is_silent(self) -> bool:
        is_idle = self.crew.is_well and not any(each.calls for each in self.crew.alive)
        pbx = self.pbx
        return is_idle and not pbx.channels and not pbx.bridges and not pbx.files

    def _put_flows(self) -> None:
        for number in range(FLOWS):
            body = msgspec.json.encode(self.scenarios.verb(2))
            done(self.memory.put_flow("acc", f"flow{number}", body))
        for name, body in self.graphs.items():
            done(self.memory.put_flow("acc", name, body))
