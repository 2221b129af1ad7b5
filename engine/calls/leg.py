"""A leg: one channel of a call, known by the channel id that we chose or Asterisk gave."""

from typing import Literal

from msgspec import Struct

LegState = Literal["requested", "placed", "ringing", "up"]


class Leg(Struct, frozen=True, array_like=True):
    """One live leg; an ended leg leaves the call. Times are wall-clock milliseconds."""

    id: str
    party: str
    state: LegState
    asked_ms: int
    answered_ms: int = 0
    agent_id: str | None = None
    reference_id: str | None = None
    ring_s: float = 60  # how long its party may take to answer

    @property
    def ring_ms(self) -> int:
        """How long its party may take to answer."""
        return int(self.ring_s * 1000)
