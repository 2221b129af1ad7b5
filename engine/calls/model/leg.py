"""A leg: one channel of a call, known by the channel id that we chose or Asterisk gave."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.causes import Status
from wire.answer_detection import AnsweredBy

LegState = Literal["requested", "created", "ringing", "up"]
MuteDirection = Literal["in", "out", "both"]  # in: nobody hears it; out: it hears nobody
Muted = MuteDirection | Literal[""]


def combine_mutes(first: Muted, second: Muted) -> Muted:
    """Give the mute that silences in the directions of both."""
    if first and second and first != second:
        return "both"
    return first or second


class LastDigit(Struct, frozen=True, array_like=True):
    """A key that counted: what it takes to know it again (`keys`)."""

    digit: str
    held_ms: int
    pbx_ms: int
    missed: bool = False


class Leg(Struct, frozen=True, array_like=True):
    """One live leg; an ended leg leaves the call. Times are wall-clock milliseconds."""

    id: str
    party: str
    state: LegState
    requested_ms: int
    answered_ms: int = 0
    agent_id: str | None = None
    reference_id: str | None = None
    ring_timeout_s: float = 60.0  # how long its party may take to answer
    muted: Muted = ""
    held: bool = False
    hangup_requested: bool = False  # it was asked to be hung up
    answered_by: AnsweredBy | None = None  # where it was detected
    held_since_ms: int = 0
    held_ms: int = 0  # in the holds before
    last_digit: LastDigit | None = None  # the last that counted

    @property
    def ring_timeout_ms(self) -> int:
        """How long its party may take to answer."""
        return int(self.ring_timeout_s * 1000)

    @property
    def ring_deadline_ms(self) -> int:
        """Until when its party may answer."""
        return self.requested_ms + self.ring_timeout_ms

    @property
    def agent(self) -> str:
        """Whose leg it is: the agent that was called, or the one that its dial named."""
        called = self.party.removeprefix("agent:")
        return called if called != self.party else self.agent_id or ""

    def with_hold(self, now: int) -> "Leg":
        """Give it as it is on hold from now on."""
        return replace(self, held=True, held_since_ms=now)

    def without_hold(self, now: int) -> "Leg":
        """Give it as it is on hold no more."""
        lasted_ms = max(0, now - self.held_since_ms) if self.held_since_ms else 0
        return replace(self, held=False, held_since_ms=0, held_ms=self.held_ms + lasted_ms)


class EndedLeg(Struct, frozen=True, array_like=True):
    """A leg that has ended, and how."""

    leg: Leg
    ended_ms: int
    status: Status
    cause: int
    sip_code: int = 0
    reason: str = ""  # why its party could not be called
