"""The delay before a webhook's retry: short, unless the server requests another."""

from email.utils import parsedate_to_datetime

_DELAY_S = 0.1
_JITTER_S = 0.2


def retry_delay_s(retry_after: str | None, now_s: float, random: float) -> float:
    """Return the delay; `now_s` is wall-clock, `random` within 0..1."""
    requested_s = parse_retry_after(retry_after, now_s)
    return (_DELAY_S if requested_s is None else requested_s) + _JITTER_S * random


def parse_retry_after(retry_after: str | None, now_s: float) -> float | None:
    """Parse a Retry-After header: seconds, or a date (RFC 9110, section 10.2.3)."""
    if retry_after is None:
        return None
    if retry_after.isascii() and retry_after.isdecimal():
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - now_s)
    except (ValueError, OverflowError):
        return None
