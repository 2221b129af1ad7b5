"""When to try a webhook again: soon, unless the server named a time that still fits."""

from email.utils import parsedate_to_datetime

_PAUSE_S = 0.1
_JITTER_S = 0.2


def retry_delay_s(retry_after: str | None, now_s: float, random: float) -> float:
    """Choose how long to wait; `now_s` is wall-clock, `random` within 0..1."""
    asked = parse_retry_after(retry_after, now_s)
    return (_PAUSE_S if asked is None else asked) + _JITTER_S * random


def parse_retry_after(retry_after: str | None, now_s: float) -> float | None:
    """Read a Retry-After header: seconds, or a date (RFC 9110, section 10.2.3)."""
    if retry_after is None:
        return None
    if retry_after.isascii() and retry_after.isdecimal():
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - now_s)
    except (ValueError, OverflowError):
        return None
