"""The keys of the last minute on a node: kept in order, and not without limit."""

from engine.calls.model.events import DigitPressed
from engine.runtime.nodes.dtmf_log import MAX_DIGITS_PER_LEG, MAX_LEGS, RETENTION_MS, DtmfLog
from tests.unit.calls.harness.builders import CHANNEL, MAIN, NOW
from tests.unit.runtime.harness.shard_bench import ManualClock


def test_keys_are_kept_by_leg() -> None:
    """Each with its key-down by this engine's clock, and its time by the PBX's."""
    clock = ManualClock()
    overheard = DtmfLog(clock)
    overheard.on_digit(MAIN, "1", 80, 5_000)
    overheard.on_digit(CHANNEL, "2", 90, 5_010)
    clock.now += 300
    overheard.on_digit(MAIN, "3", 100, 5_300)
    first = DigitPressed(MAIN, "1", NOW - 80, 80, 5_000, missed=True)
    assert overheard.digits[MAIN] == [
        first,
        DigitPressed(MAIN, "3", NOW + 200, 100, 5_300, missed=True),
    ]
    assert [each.digit for each in overheard.digits[CHANNEL]] == ["2"]


def test_old_ones_are_forgotten() -> None:
    """A leg's with its latest: what is older is known to its call."""
    clock = ManualClock()
    overheard = DtmfLog(clock)
    overheard.on_digit(MAIN, "1", 80, 1)
    overheard.on_digit(CHANNEL, "1", 80, 1)
    clock.now += RETENTION_MS
    overheard.on_digit(MAIN, "2", 80, 2)
    assert len(overheard.digits) == 2
    clock.now += 1
    overheard.on_digit(MAIN, "3", 80, 3)
    assert list(overheard.digits) == [MAIN]
    assert len(overheard.digits[MAIN]) == 3


def test_there_is_a_limit() -> None:
    """Of keys for a leg, and of legs: the oldest go."""
    overheard = DtmfLog(ManualClock())
    for place in range(MAX_DIGITS_PER_LEG + 1):
        overheard.on_digit(MAIN, "1", 80, place)
    assert [each.pbx_ms for each in overheard.digits[MAIN]] == list(
        range(1, MAX_DIGITS_PER_LEG + 1)
    )
    for place in range(MAX_LEGS):
        overheard.on_digit(f"1.{place}", "1", 80, 1)
    assert len(overheard.digits) == MAX_LEGS
    assert MAIN not in overheard.digits
