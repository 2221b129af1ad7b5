"""Clients that control live calls: rarely, often, or several at once, during any fault."""

import random
from collections import Counter
from typing import Protocol

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.call_states import Bridged, Dialing
from engine.calls.model.requests import ControlRequest
from engine.runtime.admission.node_selection import NoCapacity
from engine.runtime.call_service import CallService
from engine.runtime.shard.control_requests import NotOwner, RequestRejected
from engine.store.errors import StoreDown
from tests.harness.sim.asterisk import SimAsterisk
from tests.harness.sim.clock import SimClock
from tests.harness.sim.loop import SimLoop
from tests.sim.requests import RequestChooser
from wire.base import tag_of

EVERY_MS = (0, 0, 5_000, 1_200, 300, 120)  # mean interval in a world; 0: no requests

PHONE_PROBABILITY = 0.06  # that a phone sends REFER instead
REPEAT_PROBABILITY = 0.5  # that the same call is controlled again


class ControlTarget(Protocol):
    """An engine that accepts control requests."""

    loop: SimLoop
    service: CallService

    @property
    def calls(self) -> list[Call]: ...

    def pbx_of(self, call: Call) -> SimAsterisk:
        """Return the PBX of a call."""


class Engines(Protocol):
    """The engines of a world."""

    @property
    def engine(self) -> ControlTarget | None:
        """An engine that accepts requests now, if any."""


class Granted(Struct, frozen=True):
    """A granted request, and the call in its response."""

    request: ControlRequest
    call: Call


class CallControllers:
    """Sends control requests at random times."""

    def __init__(
        self,
        clock: SimClock,
        rng: random.Random,
        requests: RequestChooser,
        engines: Engines,
        counts: Counter[str],
    ) -> None:
        self.granted: list[Granted] = []
        self.every_ms = rng.choice(EVERY_MS)
        self._clock = clock
        self._rng = rng
        self._requests = requests
        self._engines = engines
        self._counts = counts
        self._last = ""

    def plan(self, within_ms: float) -> None:
        """Schedule all requests."""
        for _ in range(int(within_ms / self.every_ms) if self.every_ms else 0):
            self._clock.after(self._rng.uniform(500, within_ms), self._act)

    def _act(self) -> None:
        engine = self._engines.engine
        calls = engine.calls if engine is not None else []
        busy = [each for each in calls if isinstance(each.state, Bridged | Dialing)]
        if engine is None or not calls:
            return
        last = [each for each in calls if each.id == self._last]
        among = busy if busy and self._rng.random() < 0.8 else calls
        call = self._rng.choice(last if last and self._rng.random() < REPEAT_PROBABILITY else among)
        self._last = call.id
        if self._rng.random() < PHONE_PROBABILITY:
            self._refer(engine, call)
            return
        for _ in range(self._rng.choice((1, 1, 1, 2, 3))):
            engine.loop.create_task(self._ask(engine, call.id, self._requests.of(call)))

    def _refer(self, engine: ControlTarget, call: Call) -> None:
        """Let a phone send REFER, or an operator hang up a snoop channel."""
        pbx = engine.pbx_of(call)
        snoops = [each for each in pbx.channels.values() if each.snooped is not None]
        if snoops:  # by an operator; the coach must not be left alone
            self._counts["snoop hung up"] += 1
            pbx.hangs_up(snoops[0])
        elif call.legs and (channel := pbx.channels.get(self._rng.choice(call.legs).id)):
            self._counts["REFER"] += 1
            number = self._rng.choice(("+47123456", "1002", "nonsense"))
            pbx.refers(channel, number, replaces=self._rng.random() < 0.4)

    async def _ask(self, engine: ControlTarget, call_id: str, request: ControlRequest) -> None:
        kind = tag_of(request).removesuffix("-requested")
        try:
            call = await engine.service.request(call_id, request)
        except RequestRejected as refused:
            self._counts[f"{kind}: {refused.rejection.code}"] += 1
        except (NoCapacity, StoreDown, NotOwner):
            self._counts[f"{kind}: unavailable"] += 1
        else:
            self._counts[f"{kind}: granted"] += 1
            self.granted.append(Granted(request, call))
