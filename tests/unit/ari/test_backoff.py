"""Delays grow up to a limit, with jitter."""

from engine.ari.reconnecting_websocket import Backoff


def test_delays_double_up_to_the_limit() -> None:
    """Each delay may be twice as long as the one before, never longer than the limit."""
    backoff = Backoff(lambda: 1.0, first_s=0.1, limit_s=0.5)
    assert [backoff.next_s() for _ in range(5)] == [0.1, 0.2, 0.4, 0.5, 0.5]


def test_a_delay_is_any_part_of_its_ceiling() -> None:
    """Full jitter covers the whole range."""
    backoff = Backoff(iter([0.0, 0.5]).__next__, first_s=1.0)
    assert [backoff.next_s(), backoff.next_s()] == [0.0, 1.0]


def test_reset_starts_again() -> None:
    """After a good connection the first delay is short again."""
    backoff = Backoff(lambda: 1.0)
    backoff.next_s()
    backoff.reset()
    assert backoff.next_s() == 0.1
