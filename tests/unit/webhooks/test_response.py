"""The delay of a webhook's retry."""

import pytest

from engine.webhooks.response import retry_delay_s

NOW_S = 1_445_412_480.0  # Wed, 21 Oct 2015 07:28:00 GMT


@pytest.mark.parametrize(
    ("retry_after", "delay_s"),
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
def test_the_delay_is_the_requested_one_or_short(retry_after: str | None, delay_s: float) -> None:
    """Seconds and dates are parsed, anything else is ignored."""
    assert retry_delay_s(retry_after, NOW_S, 0.0) == pytest.approx(delay_s)


def test_the_pause_has_jitter() -> None:
    """Calls that failed together do not retry together."""
    assert retry_delay_s("2", NOW_S, 1.0) > retry_delay_s("2", NOW_S, 0.5) > 2.0
