"""The time that phones and servers of the harness share."""

import time


def now_ms() -> float:
    """Return the monotonic time that phones and servers of the harness share."""
    return time.monotonic() * 1000
