"""The measured effects of a fault, and their limits."""

from math import inf

from msgspec import Struct


class Limits(Struct, frozen=True):
    """Maximum milliseconds of a control request, and of a shard without an owner."""

    control_ms: float
    unowned_ms: float = inf


class Outcome(Struct, frozen=True):
    """Figures of one fault; `new` calls came during it, `duplicated` and `missing` count events.

    `control_ms`: until a command is stored; `executed_ms`: until the PBX has executed one.
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
    duplicated: int
    missing: int
    orphans: int
    notes: tuple[str, ...] = ()

    def misses(self, limits: Limits) -> tuple[str, ...]:
        """Return the violations."""
        wrong = ("lost", "failed", "duplicated", "missing", "orphans")
        missed = [name for name in wrong if getattr(self, name)]
        if self.control_ms > limits.control_ms:
            missed.append(f"control > {limits.control_ms:.0f} ms")
        if self.executed_ms > limits.control_ms:
            missed.append(f"executed > {limits.control_ms:.0f} ms")
        if self.unowned_ms > limits.unowned_ms:
            missed.append(f"no owner > {limits.unowned_ms:.0f} ms")
        return (*missed, *self.notes)
