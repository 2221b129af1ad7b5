"""Where a desk stands: one slot of one node, the ways to it, and for how long it is ours."""

from typing import Protocol

from msgspec import Struct, field

from engine.observe.meter import Meter
from engine.runtime.dialplan import Dialplan
from engine.runtime.ports import Pbx, Tapes


class Lease(Protocol):
    """How long the slot is ours."""

    @property
    def holds(self) -> bool:
        """Whether nobody else can have it yet."""


class _Forever:
    holds = True


class Place(Struct, frozen=True):
    """One slot of one node, as the engine that holds it sees it."""

    node: str
    slot: int
    pbx: Pbx
    plan: Dialplan
    tapes: Tapes | None = None  # without, nothing is recorded here
    lease: Lease = _Forever()
    meter: Meter = field(default_factory=Meter)
