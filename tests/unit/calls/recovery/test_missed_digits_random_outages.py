"""Random outages during typing: with AMI connected no digit is lost and none is doubled."""

from collections.abc import Iterable
from typing import Literal

from hypothesis import given
from hypothesis import strategies as some
from msgspec import Struct

from engine.calls.model.events import DigitPressed
from engine.calls.model.storage_format import decode_call, encode
from engine.calls.recovery.missed_digits import MAX_AMI_DELAY_MS, missing_digits
from engine.calls.recovery.reconcile import reconcile
from tests.harness.calls.ami_digits import UP, ami_digit, gathered_digits, gathering
from tests.harness.calls.builders import MAIN, Story

MIN_GAP_MS = 85  # between the ends of two digits: 40 of tone, 45 of silence (channel.c)


class TypedDigit(Struct, frozen=True):
    """A digit: its duration, its gap to the previous one, and AMI's delay."""

    digit: str
    held_ms: int
    gap_ms: int
    lag_ms: int


class Outage(Struct, frozen=True):
    """Digits before, during and after an outage of ARI, which ends with a recovery.

    Those after it are delivered before the recovery (`buffered`) or after it (`late`).
    """

    live: tuple[TypedDigit, ...]
    missed: tuple[TypedDigit, ...]
    after: tuple[TypedDigit, ...]
    kind: Literal["buffered", "late"]


def outages(min_gap_ms: int) -> some.SearchStrategy[list[Outage]]:
    """Return a strategy of outages with a minimum gap between digits."""
    gaps_ms = some.integers(min_gap_ms, min_gap_ms + 1_000)
    held_ms, lags_ms = some.sampled_from([60, 80]), some.integers(0, MIN_GAP_MS - 1)
    digit = some.builds(TypedDigit, some.sampled_from("112"), held_ms, gaps_ms, lags_ms)
    digits = some.lists(digit, max_size=3).map(tuple)
    kind = some.sampled_from(["buffered", "late"])
    return some.lists(some.builds(Outage, digits, digits, digits, kind), max_size=3)


class Typist:
    """Types into an unlimited gather; records what ARI and AMI report."""

    def __init__(self) -> None:
        self.story: Story = gathering(timeout=120_000, terminator="")
        self.typed = ""
        self.is_logged = True
        self._logged: list[DigitPressed] = []

    def type(self, digits: Iterable[TypedDigit]) -> list[DigitPressed]:
        """Type digits and return their ARI events."""
        events: list[DigitPressed] = []
        for each in digits:
            self.story.now += each.gap_ms
            now = self.story.now
            events.append(DigitPressed(MAIN, each.digit, now - each.held_ms, each.held_ms, now))
            self.typed += each.digit
            if self.is_logged:
                self._logged.append(ami_digit(events[-1], each.lag_ms))
        return events

    def type_through(self, outage: Outage) -> None:
        """Type before, during and after an outage."""
        for event in self.type(outage.live):
            self.story.take(event)
        self.type(outage.missed)
        after = self.type(outage.after)
        self._recover(after if outage.kind == "buffered" else [])
        for event in after:
            self.story.take(event)

    def _recover(self, buffered: list[DigitPressed]) -> None:
        self.story.now += MIN_GAP_MS
        self.story.call = decode_call(encode(self.story.call))
        first = {MAIN: buffered[0]} if buffered else {}
        digits = missing_digits(self.story.call, {MAIN: self._logged}, first)
        for event in reconcile(self.story.call, (), UP, self.story.now, digits)[1]:
            self.story.take(event)


@given(outages(MIN_GAP_MS))
def test_no_digit_is_lost_or_doubled(random_outages: list[Outage]) -> None:
    """Whatever ARI delivers or misses, and however late either of them is."""
    typist = Typist()
    for outage in random_outages:
        typist.type_through(outage)
    assert gathered_digits(typist.story.call) == typist.typed


@given(outages(MAX_AMI_DELAY_MS + 1), outages(MAX_AMI_DELAY_MS + 1))
def test_only_unlogged_missed_digits_are_lost(before: list[Outage], after: list[Outage]) -> None:
    """AMI connects only after some outages: its digits are added, and none is doubled.

    Only an equal digit within MAX_AMI_DELAY_MS of one that AMI missed may be taken for it.
    """
    typist = Typist()
    typist.is_logged = False
    for outage in before:
        typist.type_through(outage)
    delivered = [each.digit for outage in before for each in (*outage.live, *outage.after)]
    lost, typist.is_logged = typist.typed, True
    for outage in after:
        typist.type_through(outage)
    assert gathered_digits(typist.story.call) == "".join(delivered) + typist.typed.removeprefix(
        lost
    )
