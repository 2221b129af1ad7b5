"""How long a webhook's retry waits."""

import pytest

from engine.webhooks.retry import retry_delay_s

NOW_S = 1_445_412_480.0  # Wed, 21 Oct 2015 07:28:00 GMT


@pytest.mark.parametrize(
    ("asked", "pause"),
    [
        (None, 0.1),
        ("2", 2.0),
        ("Wed, 21 Oct 2015 07:28:03 GMT", 3.0),
        ("Wed, 21 Oct 2015 07:27:00 GMT", 0.0),
        ("soon", 0.1),
        ("-5", 0.1),
        ("²", 0.1),
    ],
)
def test_the_pause_is_what_was_asked_for_or_short(asked: str | None, pause: float) -> None:
    """Seconds and dates are understood, nonsense is passed over."""
    assert retry_delay_s(asked, NOW_S, 0.0) == pytest.approx(pause)


def test_the_pause_has_jitter() -> None:
    """Many calls that failed together do not come back together."""
    assert retry_delay_s("2", NOW_S, 1.0) > retry_delay_s("2", NOW_S, 0.5) > 2.0
