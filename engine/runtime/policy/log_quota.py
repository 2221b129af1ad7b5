"""What the calls of an account have written to the store, beside what they may write.

Counted are the logs, which contain all events and customers' responses, and the last states of
ended calls: what is kept for `SWITCHROOM_KEPT_S`, a day. An account may write so many bytes for
each call that it may have at once (`--max-calls`): a large customer has much, and no honest one
notices. An account without that limit has none here, either.

The count is that of a sliding window, made of two fixed ones: an account may write its bytes at
once, and twice as many are kept at most. It is of this engine alone, beside the engine's share of
the bytes, and starts at zero with the process.
"""

from collections import Counter

from engine.runtime.policy.capacity_limits import ClusterLoad
from wire.dial_policy import AccountDialPolicy


class LogQuota:
    """Counts bytes by account; `bytes_of_call` are those of each call that it may have at once."""

    def __init__(self, cluster: ClusterLoad, bytes_of_call: int, kept_ms: int) -> None:
        self._cluster = cluster
        self._bytes_of_call = bytes_of_call
        self._kept_ms = kept_ms
        self._until_ms = 0  # the end of the present window
        self._present = Counter[str]()
        self._previous = Counter[str]()

    def count(self, account: str, size: int, now_ms: int) -> None:
        """Count what is written; each commit of each call does so."""
        if now_ms >= self._until_ms:
            self._begin_window(now_ms)
        self._present[account] += size

    def is_spent(self, account: str, policy: AccountDialPolicy, now_ms: int) -> bool:
        """Return whether an account has written as much as it may."""
        if policy.max_calls is None:
            return False
        if now_ms >= self._until_ms:
            self._begin_window(now_ms)
        left = (self._until_ms - now_ms) / self._kept_ms
        written = self._present[account] + self._previous[account] * min(1.0, left)
        share = policy.max_calls * self._bytes_of_call / self._cluster.engine_count
        return written >= share

    def _begin_window(self, now_ms: int) -> None:
        is_next = now_ms < self._until_ms + self._kept_ms
        self._previous = self._present if is_next else Counter()
        self._present = Counter()
        self._until_ms = (self._until_ms if is_next else now_ms) + self._kept_ms
