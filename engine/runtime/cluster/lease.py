"""A shard's lease as its owner sees it, and how long leases last."""

from collections.abc import Callable
from math import inf

from msgspec import Struct


class Lease:
    """A claim on a shard, valid until `ends_s` of the monotonic clock unless it is extended.

    A frozen process can't stop that clock: after it has slept past the end, `holds` is false before
    any timer or event runs.
    """

    def __init__(
        self,
        token: int,
        ends_s: float,
        monotonic: Callable[[], float],
        on_suspect: Callable[[], None] = lambda: None,
        valid_s: float = 0.0,
    ) -> None:
        self.token = token
        self._valid_s = valid_s  # from the request for a renewal
        self.suspect = on_suspect  # to be called when another engine may have the shard
        self._ends_s = ends_s
        self._monotonic = monotonic

    @property
    def holds(self) -> bool:
        return self._monotonic() < self._ends_s

    @property
    def unseen_ms(self) -> int:
        """For how long the engine may have been frozen, since a renewal; 0 while it holds."""
        if self.holds or self._ends_s == -inf:
            return 0
        return round((self._monotonic() - self._ends_s + self._valid_s) * 1000)

    def extend(self, ends_s: float) -> None:
        self._ends_s = ends_s

    def end(self) -> None:
        """End the lease now: whatever still arrives is left to the next owner."""
        self._ends_s = -inf


class LeaseTimings(Struct, frozen=True):
    """Seconds; a lease counts as over `margin_s` before its end in the store."""

    lease_s: float = 2.0
    margin_s: float = 0.25
    heartbeat_s: float = 0.5

    @property
    def lease_ms(self) -> int:
        return int(self.lease_s * 1000)

    @property
    def valid_s(self) -> float:
        """How long an engine relies on a lease after the request for it."""
        return self.lease_s - self.margin_s
