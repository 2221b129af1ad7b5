"""Random outages during typing: with AMI connected no digit is lost and none is doubled."""

from collections.abc import Iterable
from typing import Literal

from hypothesis import given
from hypothesis import strategies as some
from msgspec import Struct

from engine.calls.model.codec import decode_call, encode
from engine.calls.model.events import DigitPressed
from engine.calls.recovery.dtmf import MAX_AMI_DELAY_MS, missing_digits
from engine.calls.recovery.reconcile import reconcile
from tests.unit.calls.harness.ami_digits import UP, ami_digit, gathered_digits, gathering
from tests.unit.calls.harness.builders import MAIN, Story

SHORTEST_GAP_MS = 85  # between the ends of two keys: 40 for the key, 45 after it (channel.c)


class Typed(Struct, frozen=True):
    """A key, and how long after the one before it is let go; AMI tells it so much later."""

    digit: str
    held_ms: int
    gap_ms: int
    lag_ms: int


class Stretch(Struct, frozen=True):
    """Keys that ARI tells as they come, or, until the call is taken up, to nobody.

    `waits`: told in time to wait for that; `late`: told, but so late that it is over by then.
    """

    live: tuple[Typed, ...]
    deaf: tuple[Typed, ...]
    more: tuple[Typed, ...]
    kind: Literal["waits", "late"]


def stretches(shortest_gap_ms: int) -> some.SearchStrategy[list[Stretch]]:
    """Return a strategy of stretches with a minimum gap between digits."""
    gaps_ms = some.integers(shortest_gap_ms, shortest_gap_ms + 1_000)
    held_ms, lags_ms = some.sampled_from([60, 80]), some.integers(0, SHORTEST_GAP_MS - 1)
    key = some.builds(Typed, some.sampled_from("112"), held_ms, gaps_ms, lags_ms)
    keys = some.lists(key, max_size=3).map(tuple)
    kind = some.sampled_from(["waits", "late"])
    return some.lists(some.builds(Stretch, keys, keys, keys, kind), max_size=3)


class Typist:
    """Types into a gather that takes all there is; notes what ARI and AMI tell."""

    def __init__(self) -> None:
        self.story: Story = gathering(timeout=120_000, terminator="")
        self.typed = ""
        self.is_overheard = True
        self._heard: list[DigitPressed] = []

    def types(self, keys: Iterable[Typed]) -> list[DigitPressed]:
        """Type keys; gives how ARI tells them."""
        told: list[DigitPressed] = []
        for key in keys:
            self.story.now += key.gap_ms
            now = self.story.now
            told.append(DigitPressed(MAIN, key.digit, now - key.held_ms, key.held_ms, now))
            self.typed += key.digit
            if self.is_overheard:
                self._heard.append(ami_digit(told[-1], key.lag_ms))
        return told

    def lives(self, stretch: Stretch) -> None:
        """Type through an outage, or through a doubt in which none was."""
        for key in self.types(stretch.live):
            self.story.take(key)
        self.types(stretch.deaf)
        more = self.types(stretch.more)
        self._is_taken_up(more if stretch.kind == "waits" else [])
        for key in more:
            self.story.take(key)

    def _is_taken_up(self, waiting: list[DigitPressed]) -> None:
        self.story.now += SHORTEST_GAP_MS
        self.story.call = decode_call(encode(self.story.call))
        first = {MAIN: waiting[0]} if waiting else {}
        keys = missing_digits(self.story.call, {MAIN: self._heard}, first)
        for event in reconcile(self.story.call, (), UP, self.story.now, keys)[1]:
            self.story.take(event)


@given(stretches(SHORTEST_GAP_MS))
def test_no_digit_is_lost_or_doubled(lived: list[Stretch]) -> None:
    """Whatever ARI delivers or misses, and however late either of them is."""
    typist = Typist()
    for stretch in lived:
        typist.lives(stretch)
    assert gathered_digits(typist.story.call) == typist.typed


@given(stretches(MAX_AMI_DELAY_MS + 1), stretches(MAX_AMI_DELAY_MS + 1))
def test_what_nobody_heard_is_lost_and_nothing_else(
    before: list[Stretch], after: list[Stretch]
) -> None:
    """Other ears that open late add what they heard, and double nothing.

    Only a key that is alike, and comes within LATE_MS of one that they missed, may be taken for it.
    """
    typist = Typist()
    typist.is_overheard = False
    for stretch in before:
        typist.lives(stretch)
    told = [key.digit for stretch in before for key in (*stretch.live, *stretch.more)]
    lost, typist.is_overheard = typist.typed, True
    for stretch in after:
        typist.lives(stretch)
    assert gathered_digits(typist.story.call) == "".join(told) + typist.typed.removeprefix(lost)
