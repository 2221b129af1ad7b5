"""Lets few lines about refused calls into the log: one a second of an account and reason.

A refusal costs its caller nothing, so without a limit a phone, or a stranger, would fill the log.
The metric counts each refusal.
"""

from collections.abc import Callable

INTERVAL_MS = 1_000
MAX_KNOWN = 1_000  # accounts and reasons; the names of accounts are those of routes


class RefusalLines:
    """Counts refusals that have no line of their own: the next line has their number."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._known: dict[tuple[str, str], tuple[int, int]] = {}  # when the last line was, count

    def take(self, account: str, reason: str) -> int:
        """Return how many refusals a line is for; 0: none is due."""
        now_ms, key = self._now_ms(), (account, reason)
        at_ms, count = self._known.pop(key, (now_ms - INTERVAL_MS, 0))
        # The clock may have been set back.
        is_due = not 0 <= now_ms - at_ms < INTERVAL_MS
        self._known[key] = (now_ms, 0) if is_due else (at_ms, count + 1)
        if len(self._known) > MAX_KNOWN:
            del self._known[next(iter(self._known))]
        return count + 1 if is_due else 0
