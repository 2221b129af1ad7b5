"""Faults of stream gateways: half of them die and start again, or lose the engines for a while."""

import random
from collections import Counter
from collections.abc import Callable

from tests.harness.sim.clock import SimClock
from tests.harness.sim.streams.gateway import SimGateway


class GatewayFaults:
    """The faults of a world's gateways; `say` gets a line about each."""

    def __init__(self, clock: SimClock, counts: Counter[str], say: Callable[[str], None]) -> None:
        self._clock = clock
        self._counts = counts
        self._say = say

    def plan_deaths(self, gateway: SimGateway, rng: random.Random, within_ms: float) -> None:
        if rng.random() < 0.5:
            return
        for _ in range(rng.choice((1, 3))):
            self._clock.after(rng.uniform(500, within_ms), self._kill, None, gateway, rng)

    def plan_cuts(self, gateway: SimGateway, rng: random.Random, within_ms: float) -> None:
        if rng.random() < 0.5:
            return
        for _ in range(rng.choice((1, 3))):
            self._clock.after(rng.uniform(500, within_ms), self._cut, None, gateway, rng)

    def _kill(self, gateway: SimGateway, rng: random.Random) -> None:
        if gateway.is_up:
            self._counts["gateway died"] += 1
            self._say("** the stream gateway dies")
            gateway.die()
            down_ms = rng.choice((10, 300, 4_000)) * (0.5 + rng.random())
            self._clock.after(down_ms, gateway.start)

    def _cut(self, gateway: SimGateway, rng: random.Random) -> None:
        self._counts["gateway cut off"] += 1
        self._say("** the stream gateway reports nothing")
        gateway.cut()
        cut_ms = rng.choice((10, 300, 4_000)) * (0.5 + rng.random())
        self._clock.after(cut_ms, gateway.mend)
