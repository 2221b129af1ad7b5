"""A leg: one channel of a call, identified by its Asterisk channel id."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.causes import Status
from wire.answer_detection import AnsweredBy
from wire.party import Party

LegState = Literal["requested", "created", "ringing", "up"]
MuteDirection = Literal["in", "out", "both"]  # in: it is not heard; out: it hears nothing
Muted = MuteDirection | Literal[""]


def combine_mutes(first: Muted, second: Muted) -> Muted:
    """Return the mute that covers the directions of both."""
    if first and second and first != second:
        return "both"
    return first or second


class LastDigit(Struct, frozen=True, array_like=True):
    """The last accepted digit of a leg, kept to recognize duplicates (`recovery.missed_digits`)."""

    digit: str
    held_ms: int
    pbx_ms: int
    missed: bool = False


class Leg(Struct, frozen=True, array_like=True):
    """One live leg; times are wall-clock milliseconds."""

    id: str
    party: str
    state: LegState
    requested_ms: int
    answered_ms: int = 0
    agent_id: str | None = None
    reference_id: str | None = None
    ring_timeout_s: float = 60.0
    muted: Muted = ""
    held: bool = False
    hangup_requested: bool = False
    answered_by: AnsweredBy | None = None  # result of answer detection
    held_since_ms: int = 0
    held_ms: int = 0  # total of earlier holds
    last_digit: LastDigit | None = None
    held_by_phone: bool = False  # its phone holds its other party; `held` is a request's hold

    @property
    def is_held(self) -> bool:
        """Whether it is on hold, by a request or by its phone."""
        return self.held or self.held_by_phone

    @property
    def ring_timeout_ms(self) -> int:
        return int(self.ring_timeout_s * 1000)

    @property
    def ring_deadline_ms(self) -> int:
        """Time by which its party must answer."""
        return self.requested_ms + self.ring_timeout_ms

    @property
    def agent(self) -> str:
        """Id of the agent that was called, or of the agent that the dial named; empty: none."""
        called = Party.parse(self.party).agent_id
        return called if called is not None else self.agent_id or ""

    def with_holds(self, now: int, *, held: bool, held_by_phone: bool) -> "Leg":
        """Return the leg with these holds since now; the time of a hold that ends is added."""
        leg = replace(self, held=held, held_by_phone=held_by_phone)
        if leg.is_held == self.is_held:
            return leg
        if leg.is_held:
            return replace(leg, held_since_ms=now)
        lasted_ms = max(0, now - self.held_since_ms) if self.held_since_ms else 0
        return replace(leg, held_since_ms=0, held_ms=self.held_ms + lasted_ms)


class EndedLeg(Struct, frozen=True, array_like=True):
    """A leg that has ended, with its outcome."""

    leg: Leg
    ended_ms: int
    status: Status
    cause: int
    sip_code: int = 0
    reason: str = ""  # why its party was not called
