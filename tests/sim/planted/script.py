"""Scripted worlds: one call whose steps are fixed, so that a planted fault shows for sure."""

import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.requests import ControlRequest
from engine.runtime.pbx_nodes.recent_digits import RecentDigits
from engine.runtime.shard.control_requests import RequestRejected
from engine.runtime.shard.step_runner import MAX_LOG_LINES
from tests.harness.sim.clock import EngineClock, SimClock
from tests.harness.sim.phone import AnsweringPhones, is_dialled
from tests.harness.sim.store import done
from tests.harness.sim.streams.bots import MakeBot, SimBot
from tests.harness.sim.streams.callers import SilentCallers, Utterance
from tests.harness.sim.webhooks import SimServers
from tests.harness.store.documents import put_route
from tests.sim.engine_run import APP, PartOverrides
from tests.sim.faults import Faults
from tests.sim.recorders import Recorders
from tests.sim.world import EACH_MS, Trace, World
from wire import verbs
from wire.rpc import NumberRoute
from wire.verbs import Action

NUMBER = "1000"
CALLER = "1700.0"
LENGTH_MS = 32_000  # of the time in which steps happen
HELD_MS = 80.0  # how long a key is down
GAP_MS = 250  # between two keys
NUMBER_OF_OTHERS = "1001"
EACH_OTHER_MS = 700
KEYS_OF_OTHERS = ((3_000, "1"), (3_400, "2"))  # ms of a call
END_OF_OTHERS_MS = 12_000
NOTICED_MS = 40  # until the engine notices the loss of its websocket


class Script(Struct, frozen=True):
    """An inbound call with its action tree and the steps that happen to it, and other calls.

    A limit of the log makes the first call end; the others press keys and hang up.
    """

    action: Action
    steps: tuple[tuple[int, "Step"], ...]  # ms after the start of the world, in order
    kinds: frozenset[str] = frozenset()  # the faults that its steps cause
    is_recorded: bool = False
    bots: MakeBot = SimBot
    max_log_lines: int = MAX_LOG_LINES
    others: int = 0
    action_of_others: Action = verbs.Hangup()


class ScriptedWorld(World):
    """Runs a script; nothing in it is left to the random generators of scenarios."""

    def __init__(
        self, script: Script, overrides: PartOverrides, trace: Trace | None = None
    ) -> None:
        self._script = script
        super().__init__(0, LENGTH_MS // EACH_MS, overrides, trace)

    def press(self, digits: str) -> None:
        """Let the caller press keys one after another."""
        channel = self.pbx.channels.get(CALLER)
        if channel is not None:
            for place, digit in enumerate(digits):
                self.clock.after(place * GAP_MS, self.pbx.pressed, None, channel, digit, HELD_MS)

    def hold_key(self, digit: str, held_ms: float) -> None:
        """Let the caller press a key down now and release it later."""
        channel = self.pbx.channels.get(CALLER)
        if channel is not None:
            self.pbx.starts_key(channel)
            self.clock.after(held_ms, self.pbx.pressed, None, channel, digit, held_ms)

    def hang_up(self, party: int) -> None:
        """Let a party hang up: 0 is the caller, the others count in the order of dials."""
        dialled = [each for each in self.pbx.channels.values() if is_dialled(each)]
        channel = dialled[party - 1] if 0 < party <= len(dialled) else self.pbx.channels.get(CALLER)
        if channel is not None:
            self.pbx.hangs_up(channel)

    def request(self, make: Callable[[Call], ControlRequest]) -> None:
        """Send a request about the call; a fault may have ended it, or left it without the leg."""
        engine = self._injector.engine
        with suppress(IndexError):
            call = engine.calls[0]
            engine.loop.create_task(_ignore_rejection(engine.service.request(call.id, make(call))))

    def utter(self, utterance: Utterance) -> None:
        """Let the caller make a sound, which the recognizer hears that listens now."""
        for recognizer in self.gateway.recognizers.values():
            recognizer.hear(utterance)

    def hold_phone(self) -> None:
        """Let the caller's phone hold until its call ends."""
        self.pbx.holds(self.pbx.channels[CALLER])

    def hold_again(self, every_ms: int) -> None:
        """Let the caller's phone hold and resume until its call ends."""
        channel = self.pbx.channels.get(CALLER)
        if channel is not None:
            self.pbx.holds(channel)
            self.clock.after(every_ms // 2, self.pbx.resumes, None, channel)
            self.clock.after(every_ms, self.hold_again, None, every_ms)

    def lose_websocket(self, for_ms: int) -> None:
        """Cut the engine's websocket for a while."""
        engine = self._injector.engine
        self.faults.disturb(1)
        self.pbx.is_listened_to = False
        self.clock.after(NOTICED_MS, engine.disconnect, engine.loop, engine.websockets)
        self.clock.after(for_ms, engine.connect, engine.loop)

    def kill_engine(self, for_ms: int) -> None:
        """Kill the engine; another one starts later."""
        self._injector.engine.die()
        self.faults.disturb(1)
        self.clock.after(for_ms, self._injector.start)

    def crash_at(self, boundary: str) -> None:
        """Let the engine die at the next boundary of this name, as before or after a commit."""
        if isinstance(self.faults, _ScriptedFaults):
            self.faults.armed = boundary

    def _plan(self, within_ms: float) -> None:
        del within_ms
        script = self._script
        route = NumberRoute("acc", script.action, record_call=script.is_recorded)
        done(put_route(self.memory, NUMBER, msgspec.json.encode(route)))
        self.clock.after(100, self.pbx.arrives, None, CALLER, "+4799", NUMBER, APP)
        for at_ms, step in script.steps:
            self.clock.after(at_ms, step, None, self)
        route = NumberRoute("acc", script.action_of_others)
        done(put_route(self.memory, NUMBER_OF_OTHERS, msgspec.json.encode(route)))
        for number in range(1, script.others + 1):
            self.clock.after(number * EACH_OTHER_MS, self._call_as_other, None, f"1700.{number}")

    def _call_as_other(self, channel_id: str) -> None:
        channel = self.pbx.arrives(channel_id, "+4799", NUMBER_OF_OTHERS, APP)
        for at_ms, digit in KEYS_OF_OTHERS:
            self.clock.after(at_ms, self.pbx.pressed, None, channel, digit, HELD_MS)
        self.clock.after(END_OF_OTHERS_MS, self.pbx.hangs_up, None, channel)

    def _put_flows(self) -> None:
        pass

    def _choose_faults(self) -> Faults:
        return _ScriptedFaults(self.clock, self._rng, self._script.kinds)

    def _choose_phones(self) -> AnsweringPhones:
        return AnsweringPhones(self.clock, self._rng)

    def _choose_callers(self) -> SilentCallers:
        return SilentCallers()

    def _choose_bots(self) -> MakeBot:
        return self._script.bots

    def _choose_max_log_lines(self) -> int:
        return self._script.max_log_lines

    def _choose_recorders(self) -> Recorders:
        return Recorders(random.Random(0), is_wanted=self._script.is_recorded)

    def _choose_servers(self) -> SimServers:
        return SimServers(self._rng, lambda: None)

    def _choose_graphs(self) -> dict[str, bytes]:
        return {}

    def _choose_recent_digits(self, overrides: PartOverrides) -> RecentDigits:
        recent_digits = RecentDigits(EngineClock(self.clock, None))
        self.pbx.manager.log_in(overrides.dtmf(recent_digits))
        return recent_digits


async def _ignore_rejection(request: Coroutine[Any, Any, Call]) -> None:
    with suppress(RequestRejected):
        await request


Step = Callable[[ScriptedWorld], object]


class _ScriptedFaults(Faults):
    """Causes no faults but the crash that a step requests."""

    def __init__(self, clock: SimClock, rng: random.Random, kinds: frozenset[str]) -> None:
        super().__init__(clock, rng, kinds)
        self.armed = ""

    def passes(self, boundary: str) -> bool:
        """Pass a boundary; return False when the engine dies there."""
        if boundary != self.armed:
            return True
        self.armed = ""
        self.crash(boundary)
        return False
