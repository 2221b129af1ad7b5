"""How long leases last and how often they are renewed."""

from msgspec import Struct


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
        """How long an engine relies on a lease after it asked for it."""
        return self.lease_s - self.margin_s
