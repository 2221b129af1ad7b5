"""How late events are read, whatever the PBX's clock shows."""

from engine.runtime.pbx_nodes.recent_digits import MAX_DELAY_MS, MIN_DELAY_MS, PERIOD_MS, EventDelay
from tests.harness.calls.builders import NOW

PBX_MS = NOW - 3_600_000  # its clock is an hour slow


def test_events_that_waited_are_late() -> None:
    """By how much longer they took than the quickest one of late."""
    delay = EventDelay()
    assert delay.measure(PBX_MS, NOW + 5) == 0
    assert delay.measure(PBX_MS + 100, NOW + 102) == 0
    assert delay.measure(PBX_MS + 200, NOW + 1_702) == 1_500
    assert delay.measure(PBX_MS + 1_700, NOW + 1_702 + MIN_DELAY_MS - 1) == 0


def test_a_freeze_may_follow_a_long_silence() -> None:
    """The quickest event of the period before still counts."""
    delay = EventDelay()
    delay.measure(PBX_MS, NOW)
    later = 10 * PERIOD_MS
    assert delay.measure(PBX_MS + later, NOW + later + 800) == 800


def test_a_clock_that_drifts_is_followed() -> None:
    """After two periods, the events of before count no more."""
    delay = EventDelay()
    for period in range(4):
        passed = period * (PERIOD_MS + 1)
        assert delay.measure(PBX_MS + passed - 60 * period, NOW + passed) <= 120
    assert delay.measure(PBX_MS + passed - 180, NOW + passed) == 0


def test_a_clock_that_was_set_makes_no_event_late() -> None:
    """Neither the PBX's nor the engine's."""
    delay = EventDelay()
    delay.measure(PBX_MS, NOW)
    assert delay.measure(PBX_MS - MAX_DELAY_MS, NOW + 1) == 0
    assert delay.measure(PBX_MS - MAX_DELAY_MS + 100, NOW + 901) == 800
    delay.change_clock(7_200_000)
    assert delay.measure(PBX_MS - MAX_DELAY_MS + 1_000, NOW + 7_201_001) == 0
