"""SimPhones: parties that answer, refuse, press keys and hang up at random."""

import random
from collections.abc import Callable

from tests.harness.sim.asterisk import SimAsterisk
from tests.harness.sim.clock import SimClock
from tests.harness.sim.model import WEBSOCKET, SimChannel, SimPlayback
from wire.call_id_format import call_of

REFUSALS = (486, 486, 480, 603, 404, 503)
KEYS = "0123456789*##"
HOLDERS = 0.3  # of the phones, in worlds with holds
RESUMES = 0.85  # of the holds


def choose_holds(seed: int) -> random.Random | None:
    """Return when phones hold; in half of the worlds, never. Other choices do not change."""
    own_rng = random.Random(f"phone hold {seed}")
    return own_rng if own_rng.random() < 0.5 else None


class SimPhones:
    """Seeded parties; `pbx` is assigned once it exists."""

    def __init__(self, clock: SimClock, rng: random.Random) -> None:
        self.pbx: SimAsterisk
        self.patience = 1.0  # factor on the length of a call
        self.holds: random.Random | None = None  # when phones hold; None: never
        self.habits: random.Random | None = None  # of typing ahead and holding keys; None: none
        self._clock = clock
        self._rng = rng
        self._typing: set[str] = set()  # channels that press keys by habit now

    def is_reachable(self, endpoint: str) -> bool:
        return "unknown" not in endpoint

    def called(self, channel: SimChannel) -> None:
        """Answer, refuse, ring for ever, or stay silent."""
        rng, kind = self._rng, self._rng.random()
        rings_ms = rng.uniform(5, 800)
        if kind < 0.06:
            return  # silent: not even a provisional answer
        if kind > 0.12:
            self._after(rings_ms, self.pbx.rings, channel)
        if kind < 0.25:
            sip = rng.choice(REFUSALS)
            self._after(rings_ms + rng.uniform(0, 3_000), self.pbx.refuses, channel, sip)
        elif kind > 0.35:
            waits_ms = rng.choice((0, 50, 500, 3_000, 8_000)) * rng.random()
            self._after(rings_ms + waits_ms, self.pbx.answers, channel)

    def calls(self, channel: SimChannel) -> None:
        """Act as an inbound caller; some hang up at once."""
        if self._rng.random() < 0.03:
            self._after(self._rng.uniform(0, 30), self.pbx.hangs_up, channel)

    def up(self, channel: SimChannel) -> None:
        """Talk for a while and sometimes press keys."""
        rng = self._rng
        is_main = channel.is_inbound or channel.id.endswith(".l0")
        stays_ms = rng.choice((500, 5_000, 20_000, 60_000, 180_000)) * (0.1 + rng.random())
        stays_ms *= self.patience
        if not is_main:
            stays_ms /= 3
        if rng.random() < 0.9:
            self._after(stays_ms, self.pbx.hangs_up, channel)
        if is_main and rng.random() < 0.5:
            self._after(rng.uniform(0, 15_000), self._burst, channel)
        if self.habits is not None:
            for _ in range(self.habits.randrange(6)):
                self._after(self.habits.uniform(0, 25_000), self._type, channel, self.habits)
        if not channel.is_inbound and rng.random() < 0.8:
            length_ms = rng.choice((50, 300, 700, 2_500))
            self._after(rng.uniform(20, 2_000), self.pbx.speaks, channel, length_ms)
        if self.holds and self.holds.random() < HOLDERS:
            self._plan_holds(channel, self.holds)

    def _plan_holds(self, channel: SimChannel, rng: random.Random) -> None:
        """Hold and resume up to three times; some phones never resume."""
        at_ms = 0.0
        for _ in range(rng.choice((1, 1, 2, 3))):
            at_ms += rng.choice((50, 2_000, 10_000)) * rng.random()
            self._after(at_ms, self.pbx.holds, channel)
            at_ms += rng.choice((30, 1_000, 8_000)) * rng.random()
            if rng.random() < RESUMES:
                self._after(at_ms, self.pbx.resumes, channel)

    def hears(self, channel: SimChannel, playback: SimPlayback) -> None:
        """Press keys during a prompt, at its end, after it, or not at all."""
        rng, kind = self._rng, self._rng.random()
        length_ms = playback.length_ms
        if self.habits is not None and self.habits.random() < 0.4:  # around both ends of a prompt
            at_ms = max(0, self.habits.choice((0, length_ms)) + self.habits.uniform(-300, 300))
            self._after(at_ms, self._type, channel, self.habits)
        if kind < 0.2:
            self._after(rng.uniform(0, length_ms), self._burst, channel)
        elif kind < 0.3:
            at_ms = max(0, length_ms + rng.uniform(-20, 20))
            self._after(at_ms, self._burst, channel)
        elif kind < 0.6:
            self._after(length_ms + rng.uniform(0, 4_000), self._burst, channel)

    def _burst(self, channel: SimChannel) -> None:
        rng, at_ms = self._rng, 0.0
        if channel.id in self._typing:
            return
        for _ in range(rng.choice((1, 1, 2, 4, 6))):
            held_ms = rng.uniform(40, 110)
            self._press(channel, rng.choice(KEYS), at_ms, held_ms)
            at_ms += held_ms
            at_ms += rng.choice((30, 200, 600, 2_000)) * (0.5 + rng.random())
        self._begin_typing(channel, at_ms)

    def _type(self, channel: SimChannel, rng: random.Random) -> None:
        """Press keys for several menus, some of them for long, often with a final #."""
        if channel.id in self._typing:
            return  # a phone sends one key at a time
        keys = [rng.choice("123456") for _ in range(rng.choice((1, 1, 2, 4, 5)))]
        keys += "#" * rng.choice((0, 1, 1, 2))
        at_ms = 0.0
        for key in keys:
            held_ms = rng.choice((60, 60, 100, 100, 200, 700, 3_000)) * (1 + rng.random() / 2)
            self._press(channel, key, at_ms, held_ms)
            at_ms += held_ms + rng.choice((60, 100, 400)) * (1 + rng.random())
        self._begin_typing(channel, at_ms)

    def _begin_typing(self, channel: SimChannel, length_ms: float) -> None:
        if self.habits is not None:
            self._typing.add(channel.id)
            self._after(length_ms, self._typing.discard, channel.id)

    def _press(self, channel: SimChannel, key: str, at_ms: float, held_ms: float) -> None:
        self._after(at_ms, self.pbx.starts_key, channel)
        self._after(at_ms + held_ms, self.pbx.pressed, channel, key, held_ms)

    def _after(self, delay_ms: float, act: Callable[..., object], *about: object) -> None:
        self._clock.after(delay_ms, act, self.pbx, *about)


def is_dialled(channel: SimChannel) -> bool:
    """Return whether a channel is a dialled leg, not a call's main leg."""
    is_party = channel.snooped is None and channel.endpoint != WEBSOCKET
    return is_party and call_of(channel.id) is not None and not channel.id.endswith(".l0")


RING_AFTER_MS = 100
ANSWER_AFTER_MS = 4_000


class AnsweringPhones(SimPhones):
    """Parties of scripted worlds, where only the script presses keys and hangs up."""

    def called(self, channel: SimChannel) -> None:
        """Ring, then answer."""
        self._after(RING_AFTER_MS, self.pbx.rings, channel)
        self._after(ANSWER_AFTER_MS, self.pbx.answers, channel)

    def calls(self, channel: SimChannel) -> None:
        """Wait."""

    def up(self, channel: SimChannel) -> None:
        """Stay."""

    def hears(self, channel: SimChannel, playback: SimPlayback) -> None:
        """Listen."""
