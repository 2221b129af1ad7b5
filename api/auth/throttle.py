"""Limits failed authentications: guessing is slow, and cannot keep the processor busy."""

from api.common.bounded_dict import BoundedDict
from api.common.clock import Clock
from api.common.errors import TooManyRequests

MAX_FAILURES = 10
WINDOW_MS = 60_000


class Throttle:
    """Counts failures by client, in windows of a minute, in this process only."""

    def __init__(self, now_ms: Clock) -> None:
        self._now_ms = now_ms
        self._failures: BoundedDict[str, tuple[int, int]] = BoundedDict()  # end of window, count

    def check(self, client: str) -> None:
        """Raise TooManyRequests for a client with too many failures."""
        until_ms, count = self._failures.get(client) or (0, 0)
        left_ms = until_ms - self._now_ms()
        if count >= MAX_FAILURES and left_ms > 0:
            raise TooManyRequests(
                "too many failures to authenticate", retry_after_s=-(-left_ms // 1_000)
            )

    def record_failure(self, client: str) -> None:
        now_ms = self._now_ms()
        until_ms, count = self._failures.get(client) or (0, 0)
        if until_ms <= now_ms:
            until_ms, count = now_ms + WINDOW_MS, 0
        self._failures.put(client, (until_ms, count + 1))
