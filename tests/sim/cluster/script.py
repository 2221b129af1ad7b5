"""Scripted clusters: equal calls and fixed faults, so that a planted fault shows for sure."""

import random
from collections.abc import Callable

import msgspec
from msgspec import Struct

from engine.runtime.shard.step_runner import MAX_LOG_LINES
from tests.harness.sim.phone import AnsweringPhones
from tests.harness.sim.redis import TIMEOUT_S
from tests.harness.sim.store import done
from tests.harness.sim.streams.bots import FloodingBot, MakeBot, SimBot
from tests.harness.sim.streams.callers import SilentCallers, Utterance
from tests.harness.sim.webhooks import SimServers
from tests.harness.store.documents import put_route
from tests.sim.cluster.engine import Engine
from tests.sim.cluster.environment import ClusterOverrides
from tests.sim.cluster.fault_injector import RETRY_MS
from tests.sim.cluster.world import UNLIMITED, ClusterWorld, Trace
from tests.sim.recorders import Recorders
from wire import verbs
from wire.rpc import NumberRoute

NUMBER = "1000"
FIRST_NUMBER = "1001"
CALLS = 16
FIRST_CALL_MS, EACH_CALL_MS = 5_000, 500
HELD_MS = 80.0  # how long a key is down
DIGITS = ((8_000, "1"), (8_300, "2"), (10_000, "3"), (10_300, "4"), (12_500, "#"))  # ms of a call
HANGUP_MS = 30_000  # of a call
UPGRADE_MS = 20_000  # until the next engine of the later version: the reaper sweeps before
JOINS_MS = (10_000, 12_100)
RESTART_MS = 3_000  # after an engine's death


class SilentServers(SimServers):
    """Customers' servers that never answer."""

    def _answer(
        self, request_id: str, body: bytes, at_ms: float
    ) -> tuple[float, str, verbs.Action | None]:
        super()._answer(request_id, body, at_ms)
        return 15_000, "timeout", None


def _audio(length_ms: int) -> str:
    return f"https://audio/{length_ms}/5/ok"


MENU = verbs.Play(
    verbs.PlayData(_audio(6_000)),
    verbs.Gather(
        verbs.GatherData(audio_url=_audio(1_000), max_digits=8, timeout=8_000, digit_timeout=4_000),
        verbs.Dial(verbs.DialData(number="+47123456"), timeout=20),
    ),
)


class ClusterScript(Struct, frozen=True):
    """Several inbound calls a moment apart, and the faults that happen to them.

    With `first_action`, it is the first call's, which goes on until its log is full.
    """

    steps: tuple[tuple[int, "Step"], ...] = ()  # ms after the start of the world
    kinds: frozenset[str] = frozenset()  # the faults that its steps cause
    action: verbs.Action = MENU
    servers: type[SimServers] = SimServers
    engines: int = 2
    slots: int = 4
    first_action: verbs.Action | None = None
    bots: MakeBot = SimBot
    max_log_lines: int = MAX_LOG_LINES


class ScriptedCluster(ClusterWorld):
    """Runs a script; nothing in it is left to the random generators of scenarios."""

    def __init__(
        self, script: ClusterScript, overrides: ClusterOverrides, trace: Trace | None = None
    ) -> None:
        self._script = script
        super().__init__(0, overrides, trace)

    def kill_engine(self) -> None:
        """Kill the first engine; another one starts some seconds later."""
        self.engines.ready[0].die()
        self.faults.disturb(1)
        self.clock.after(RESTART_MS, self.engines.add_engine)

    def kill_owner(self) -> None:
        """Kill the engine that has shards; no other one starts."""
        next(each for each in self.engines.ready if each.lease_manager.held).die()
        self.faults.disturb(1)

    def kill_later_engine(self) -> None:
        """Kill the engine of a later version; another one starts some seconds later."""
        self.engines.ready[-1].die()
        self.faults.disturb(UPGRADE_MS)
        self.clock.after(UPGRADE_MS - 1_000, self.engines.add_engine)

    def add_engine(self) -> None:
        """Start another engine, which is no fault: shards are handed over to it."""
        self.engines.start()

    def freeze_engine(self, for_ms: int) -> None:
        """Freeze the first engine, as SIGSTOP does."""
        engine = self.engines.ready[0]
        engine.is_frozen = True
        self.clock.freeze(engine.loop)
        self.faults.disturb(for_ms)
        self.clock.after(for_ms, self._thaw, None, engine)

    def utter(self, utterance: Utterance) -> None:
        """Let all callers make a sound, which the recognizers hear that listen now."""
        for recognizer in list(self.recognizers.values()):
            recognizer.hear(utterance)

    def lose_websockets(self) -> None:
        """Close all websockets of all engines."""
        self.faults.disturb(1)
        for engine in self.engines.alive:
            for connection in engine.shards.connections.values():
                connection.drop()

    def cut_pbx(self, for_ms: int) -> None:
        """Cut the connections of all engines to the PBX, which keeps its calls."""
        self.faults.disturb(for_ms + RETRY_MS)
        for engine in self.engines.alive:
            for connection in engine.shards.connections.values():
                connection.cut(is_dead=False)
                connection.drop()
                self.clock.after(for_ms, connection.mend, engine.loop)

    def cut_store(self, for_ms: int) -> None:
        """Cut the connections of all engines to the store."""
        self.faults.disturb(for_ms + TIMEOUT_S * 1000)
        for engine in self.engines.alive:
            engine.link.is_cut = True
        self.clock.after(for_ms, self._restore_store)

    def hang_up_calls(self) -> None:
        """Let a client hang up every live call."""
        for call in [call for engine in self.engines.alive for call in engine.calls]:
            self.clients.hang_up(call.id)

    def _restore_store(self) -> None:
        for engine in self.engines.alive:
            engine.link.is_cut = False
        self.faults.disturb(TIMEOUT_S * 1000)

    def _thaw(self, engine: Engine) -> None:
        self.faults.disturb(RETRY_MS)
        engine.is_frozen = False
        self.clock.thaw(engine.loop)

    def _plan(self, within_ms: float) -> None:
        del within_ms
        first = self._script.first_action or self._script.action
        for dialled, action in ((NUMBER, self._script.action), (FIRST_NUMBER, first)):
            route = NumberRoute("acc", action)
            done(put_route(self.memory, dialled, msgspec.json.encode(route)))
        for number in range(CALLS):
            begin_ms = FIRST_CALL_MS + number * EACH_CALL_MS
            self.clock.after(begin_ms, self._call_in, None, number)
        for at_ms, step in self._script.steps:
            self.clock.after(at_ms, step, None, self)

    def _call_in(self, number: int) -> None:
        pbx, app = self.env.pbxs["pbx1"], self.env.apps[number % self.env.slots]
        dialled = NUMBER if number else FIRST_NUMBER
        channel = pbx.rings_in(f"1700.{number}", dialled, [app])
        if channel is not None:
            for after_ms, digit in DIGITS:
                self.clock.after(after_ms, pbx.pressed, None, channel, digit, HELD_MS)
            self.clock.after(HANGUP_MS, pbx.hangs_up, None, channel)

    def _put_flows(self) -> None:
        pass

    def _choose_kinds(self) -> frozenset[str]:
        return self._script.kinds

    def _choose_recorders(self) -> Recorders:
        return Recorders(random.Random(0), is_wanted=False)

    def _choose_servers(self) -> SimServers:
        return self._script.servers(self._rng, lambda: None)

    def _choose_graphs(self) -> dict[str, bytes]:
        return {}

    def _choose_phones(self) -> AnsweringPhones:
        return AnsweringPhones(self.clock, self._rng)

    def _choose_callers(self, name: str) -> SilentCallers:
        del name
        return SilentCallers()

    def _choose_bots(self) -> MakeBot:
        return self._script.bots

    def _choose_max_log_lines(self) -> int:
        return self._script.max_log_lines

    def _choose_pbxs(self) -> int:
        return 1

    def _choose_slots(self) -> int:
        return self._script.slots

    def _choose_engines(self) -> int:
        return self._script.engines

    def _choose_capacity(self) -> int:
        return UNLIMITED


Step = Callable[[ScriptedCluster], object]

WHISPER = verbs.Dial(
    verbs.DialData(number="+47123456", whisper=verbs.Play(verbs.PlayData(_audio(2_000)))),
    verbs.Play(verbs.PlayData(_audio(3_000))),
    timeout=20,
)
SPOKEN = verbs.Gather(verbs.GatherData(input=("speech",), hints=("sales",), timeout=30_000))
CALM = ClusterScript()
WEBHOOK = ClusterScript(action="https://hooks/1")
# Long after the last fault, shards are handed over while webhooks are in flight.
HANDOVERS = ClusterScript(
    tuple((at_ms, ScriptedCluster.add_engine) for at_ms in JOINS_MS),
    action="https://hooks/1",
    servers=SilentServers,
)
WHISPERS = ClusterScript(action=WHISPER)
STORE_CUT = ClusterScript(
    ((6_000, lambda world: world.cut_store(15_000)),), kinds=frozenset({"cut store"})
)
ENGINE_KILLED = ClusterScript(((16_000, ScriptedCluster.kill_engine),), kinds=frozenset({"kill"}))
# Only its owner and a deputy hear the digits of the only shard, and a third engine takes it over.
OWNER_KILLED = ClusterScript(
    ((16_000, ScriptedCluster.kill_owner),), kinds=frozenset({"kill"}), engines=4, slots=1
)
# The transcripts come before another engine has the calls.
ENGINE_KILLED_IN_SPEECH = ClusterScript(
    (
        (15_000, lambda world: world.utter(Utterance(3_000, text="sales", confidence=0.9))),
        (18_600, ScriptedCluster.kill_engine),
    ),
    kinds=frozenset({"kill"}),
    action=SPOKEN,
)
UPGRADE = ClusterScript(((16_000, ScriptedCluster.kill_later_engine),), kinds=frozenset({"kill"}))
ENGINE_FROZEN = ClusterScript(
    ((14_000, lambda world: world.freeze_engine(9_000)),), kinds=frozenset({"freeze"})
)
WEBSOCKETS_LOST = ClusterScript(
    tuple((at_ms, ScriptedCluster.lose_websockets) for at_ms in (15_200, 17_200, 19_200, 21_200)),
    kinds=frozenset({"socket"}),
)
HANGUP_WHILE_AWAY = ClusterScript(
    (
        (14_000, lambda world: world.cut_pbx(20_000)),
        (17_000, ScriptedCluster.hang_up_calls),
        (19_000, ScriptedCluster.kill_engine),
    ),
    kinds=frozenset({"cut pbx", "kill"}),
)
# The bot of the first call sends marks as fast as it may; an engine dies meanwhile.
FLOOD = ClusterScript(
    ((12_600, ScriptedCluster.kill_engine),),
    kinds=frozenset({"kill"}),
    first_action=verbs.Stream(verbs.StreamData("wss://bots/1")),
    bots=FloodingBot,
    max_log_lines=500,
)
SCRIPTS = {
    "calm": CALM,
    "webhook": WEBHOOK,
    "whispers": WHISPERS,
    "store cut": STORE_CUT,
    "engine killed": ENGINE_KILLED,
    "owner killed": OWNER_KILLED,
    "engine killed in speech": ENGINE_KILLED_IN_SPEECH,
    "engine frozen": ENGINE_FROZEN,
    "websockets lost": WEBSOCKETS_LOST,
    "hangup while away": HANGUP_WHILE_AWAY,
    "flood": FLOOD,
}
