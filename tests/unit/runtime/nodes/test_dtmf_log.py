"""The keys of the last minute on a node: kept in order, and not without limit."""

from engine.calls.model.events import DigitPressed
from engine.runtime.nodes.dtmf_log import MAX_DIGITS_PER_LEG, MAX_LEGS, RETENTION_MS, DtmfLog
from tests.unit.calls.harness.builders import CHANNEL, MAIN, NOW
from tests.unit.runtime.harness.shard_bench import HandClock


def test_keys_are_kept_by_leg() -> None:
    """Each with its key-down by this engine's clock, and its time by the PBX's."""
    clock = HandClock()
    overheard = DtmfLog(clock)
    overheard.pressed(MAIN, "1", 80, 5_000)
    overheard.pressed(CHANNEL, "2", 90, 5_010)
    clock.now += 300
    overheard.pressed(MAIN, "3", 100, 5_300)
    first = DigitPressed(MAIN, "1", NOW - 80, 80, 5_000, missed=True)
    assert overheard.keys[MAIN] == [
        first,
        DigitPressed(MAIN, "3", NOW + 200, 100, 5_300, missed=True),
    ]
    assert [each.digit for each in overheard.keys[CHANNEL]] == ["2"]


def test_old_ones_are_forgotten() -> None:
    """A leg's with its latest: what is older is known to its call."""
    clock = HandClock()
    overheard = DtmfLog(clock)
    overheard.pressed(MAIN, "1", 80, 1)
    overheard.pressed(CHANNEL, "1", 80, 1)
    clock.now += RETENTION_MS
    overheard.pressed(MAIN, "2", 80, 2)
    assert len(overheard.keys) == 2
    clock.now += 1
    overheard.pressed(MAIN, "3", 80, 3)
    assert list(overheard.keys) == [MAIN]
    assert len(overheard.keys[MAIN]) == 3


def test_there_is_a_limit() -> None:
    """Of keys for a leg, and of legs: the oldest go."""
    overheard = DtmfLog(HandClock())
    for place in range(MAX_DIGITS_PER_LEG + 1):
        overheard.pressed(MAIN, "1", 80, place)
    assert [each.pbx_ms for each in overheard.keys[MAIN]] == list(range(1, MAX_DIGITS_PER_LEG + 1))
    for place in range(MAX_LEGS):
        overheard.pressed(f"1.{place}", "1", 80, 1)
    assert len(overheard.keys) == MAX_LEGS
    assert MAIN not in overheard.keys
