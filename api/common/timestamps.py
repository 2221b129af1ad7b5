"""ISO 8601 timestamps, to the millisecond, with a zone or in UTC."""

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache

MINUTE_MS = 60_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A plus sign that was not escaped arrives as a space.
_FORM = re.compile(
    r"(?P<date>(19[7-9]|2[0-9]{2})[0-9]-[01][0-9]-[0-3][0-9])"
    r"([Tt ](?P<time>[0-2][0-9]:[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?)"
    r"(?P<zone>[Zz]|[ +-][0-9]{2}:?[0-9]{2})?)?"
)


def parse_ms(text: str, *, is_end: bool = False) -> int:
    """Parse a timestamp to milliseconds since the epoch; raises ValueError.

    A date is its beginning in UTC; as the end of a range, the beginning of the next day.
    """
    parsed = None
    if found := _FORM.fullmatch(text.strip()):
        zone = (found["zone"] or "+00:00").upper().replace(" ", "+").replace("Z", "+00:00")
        with suppress(ValueError):  # the 31st of June
            parsed = datetime.fromisoformat(f"{found['date']}T{found['time'] or '00:00'}{zone}")
    if parsed is None:
        raise ValueError("expected an ISO 8601 time such as 2026-11-21T10:00:00Z")
    if is_end and found and not found["time"]:
        parsed += timedelta(days=1)
    return (parsed - EPOCH) // timedelta(milliseconds=1)


def format_ms(ms: int) -> str:
    minute, rest_ms = divmod(ms, MINUTE_MS)
    return f"{_minute(minute)}:{rest_ms // 1_000:02}.{rest_ms % 1_000:03}Z"


@lru_cache(1_000)
def _minute(minute: int) -> str:
    """Format a minute; cached, because a list's timestamps share few minutes."""
    return (EPOCH + timedelta(minutes=minute)).isoformat(timespec="minutes")[:-6]
