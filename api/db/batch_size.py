"""How many rows a transaction changes: while it lasts, no other account writes to SQLite.

Rows may be large, and a disk slow: so the first batch is small, and each batch is as large as the
time of the one before it allows.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TARGET_S = 0.025
FIRST_ROWS = 10
MOST_ROWS = 500


class BatchSize:
    """The rows of the next batch of a task."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.rows = FIRST_ROWS
        self._monotonic = monotonic

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Run a batch in the context; the next one may be at most twice as large."""
        began_s = self._monotonic()
        yield
        took_s = max(self._monotonic() - began_s, TARGET_S / 2)
        self.rows = min(max(int(self.rows * TARGET_S / took_s), 1), MOST_ROWS)
