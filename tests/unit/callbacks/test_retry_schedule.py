"""When an event is retried."""

from hypothesis import given
from hypothesis import strategies as some

from engine.callbacks.retry_schedule import DELAYS_S, JITTER, RetrySchedule

SCHEDULE = RetrySchedule()


@given(some.integers(1, 5), some.floats(0, 1))
def test_the_delays_with_jitter(tries: int, random: float) -> None:
    """Each delay is that of the schedule, plus or minus a tenth."""
    after_s = SCHEDULE.next_delay_s(tries, 0, None, random)
    assert after_s is not None
    assert abs(after_s - DELAYS_S[tries]) <= DELAYS_S[tries] * JITTER * 1.001


def test_six_attempts() -> None:
    """At the documented times; after the sixth the event is given up."""
    delays_s = [SCHEDULE.next_delay_s(tries, 0, None, 0.5) for tries in range(6)]
    assert delays_s == [0, 5, 300, 1_800, 7_200, 18_000]
    assert SCHEDULE.next_delay_s(6, 0, None, 0.5) is None


@given(some.floats(0, 1e9), some.integers(1, 5))
def test_retry_after(retry_after_s: float, tries: int) -> None:
    """Retry-After makes a delay longer, never shorter, up to an hour."""
    after_s = SCHEDULE.next_delay_s(tries, 0, retry_after_s, 0.5)
    assert after_s == max(DELAYS_S[tries], min(retry_after_s, 3_600))


def test_an_event_that_waited_behind_others() -> None:
    """An event older than the whole schedule gets one attempt only."""
    assert SCHEDULE.next_delay_s(1, sum(DELAYS_S), None, 0.5) is not None
    assert SCHEDULE.next_delay_s(1, 2 * sum(DELAYS_S), None, 0.5) is None
