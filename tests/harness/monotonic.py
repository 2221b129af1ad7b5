"""The clock that phones and servers of the harness share."""

import time


def now_ms() -> float:
    """Return the monotonic time in milliseconds."""
    return time.monotonic() * 1000
