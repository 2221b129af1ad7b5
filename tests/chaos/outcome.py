"""What a fault did, and what it may do."""

from math import inf

from msgspec import Struct


class Limits(Struct, frozen=True):
    """Milliseconds: slots without an owner, and a control command's wait, at the longest."""

    control_ms: float
    unowned_ms: float = inf


class Outcome(Struct, frozen=True):
    """One fault's figures; `new` calls came during it, `doubled` and `missing` count events.

    `control_ms`: until a command was stored; `felt_ms`: until one was done by the PBX.
    """

    fault: str
    live: int
    lost: int
    unowned_ms: float
    control_ms: float
    executed_ms: float
    new: int
    failed: int
    missing_digits: int
    doubled: int
    missing: int
    orphans: int
    notes: tuple[str, ...] = ()

    def misses(self, limits: Limits) -> tuple[str, ...]:
        """List what should not have been."""
        wrong = ("lost", "failed", "doubled", "missing", "orphans")
        missed = [name for name in wrong if getattr(self, name)]
        if self.control_ms > limits.control_ms:
            missed.append(f"control > {limits.control_ms:.0f} ms")
        if self.executed_ms > limits.control_ms:
            missed.append(f"felt > {limits.control_ms:.0f} ms")
        if self.unowned_ms > limits.unowned_ms:
            missed.append(f"no owner > {limits.unowned_ms:.0f} ms")
        return (*missed, *self.notes)
