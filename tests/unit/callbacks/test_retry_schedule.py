"""When an event is tried again."""

from hypothesis import given
from hypothesis import strategies as some

from engine.callbacks.retry_schedule import DELAYS_S, JITTER, MAX_RETRY_AFTER_S, RetrySchedule

SCHEDULE = RetrySchedule()


@given(some.integers(1, 5), some.floats(0, 1))
def test_the_delays_with_jitter(tries: int, random: float) -> None:
    """Each delay is that of the design, a tenth more or less."""
    after_s = SCHEDULE.next_delay_s(tries, 0, None, random)
    assert after_s is not None
    assert abs(after_s - DELAYS_S[tries]) <= DELAYS_S[tries] * JITTER * 1.001


def test_six_tries() -> None:
    """After the sixth it is given up."""
    assert SCHEDULE.next_delay_s(5, 0, None, 0.5) == 18_000
    assert SCHEDULE.next_delay_s(6, 0, None, 0.5) is None


@given(some.floats(0, 1e9), some.integers(1, 5))
def test_what_the_server_asks_for(asked_s: float, tries: int) -> None:
    """Retry-After makes a wait longer, never shorter, and by an hour at most."""
    after_s = SCHEDULE.next_delay_s(tries, 0, asked_s, 0.5)
    assert after_s == max(DELAYS_S[tries], min(asked_s, MAX_RETRY_AFTER_S))


def test_what_waited_behind_others() -> None:
    """An event that is older than all tries take has had its time: one try, and no more."""
    assert SCHEDULE.next_delay_s(1, sum(DELAYS_S), None, 0.5) is not None
    assert SCHEDULE.next_delay_s(1, 2 * sum(DELAYS_S), None, 0.5) is None
