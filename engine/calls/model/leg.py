"""A leg: one channel of a call, identified by its Asterisk channel id."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.causes import EndedBy, Status
from wire.answer_detection import AnsweredBy
from wire.call_id_format import call_of
from wire.party import Party

LegState = Literal["requested", "created", "ringing", "up"]
MuteDirection = Literal["in", "out", "both"]  # in: it is not heard; out: it hears nothing
Muted = MuteDirection | Literal[""]


def combine_mutes(first: Muted, second: Muted) -> Muted:
    """Return the mute that covers the directions of both."""
    if first and second and first != second:
        return "both"
    return first or second


class LastDigit(Struct, frozen=True, array_like=True, gc=False):
    """The last accepted digit of a leg, kept to recognize duplicates (`recovery.missed_digits`)."""

    digit: str
    held_ms: int
    pbx_ms: int
    missed: bool = False


class TypedDigit(Struct, frozen=True, array_like=True, gc=False):
    """A digit that a leg pressed before the gather that takes it."""

    digit: str
    pressed_ms: int  # its key-down


class SpareTerminator(Struct, frozen=True, array_like=True, gc=False):
    """The terminator of a gather that ended at its maximum number of digits.

    Callers press it from habit; the next digit of the leg, if it is this one, is dropped.
    """

    digit: str
    until_ms: int  # of its key-down


class Leg(Struct, frozen=True, array_like=True, gc=False):
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
    is_caller: bool = False  # the call comes from its party, although the engine called it
    hung_up_by: EndedBy = ""  # who initiated its hangup
    hangup_due_ms: int = 0  # when its hangup is repeated; 0: none was commanded
    hangup_tries: int = 0
    talking_since_ms: int = 0  # since when it shares a bridge with another leg; 0: it does not
    talk_ms: int = 0  # total of earlier such times
    typed_ahead: tuple[TypedDigit, ...] = ()  # in order (`verbs.type_ahead`)
    digits_from_ms: int = 0  # digits whose key went down earlier do not count
    spare_terminator: SpareTerminator | None = None
    named_agent: str = ""  # that a session's request names as the party of this leg
    agent_name: str = ""  # of its agent in the directory
    replaces: str = ""  # the leg of this or another call whose place it takes (RFC 3891)
    replaced_role: EndedBy = ""  # of that leg, if it was one of this call
    held_until_ms: int = 0  # when its last hold ended
    tapped_party: str = ""  # the leg that it heard while it was tapped (`calls.taps`)
    last_heard: str = ""  # the leg that it heard alone last (`media.bridge_choice`)
    caller_id: str = ""  # that its verb or request shows instead of the call's
    trunk: int = 0  # the number of the trunk over which its party is called

    @property
    def role(self) -> EndedBy:
        """Whether its party is the one that the call comes from, or one that was called."""
        if self.replaced_role:
            return self.replaced_role
        return "caller" if self.is_caller or call_of(self.id) is None else "callee"

    @property
    def is_local_channel(self) -> bool:
        """Whether its party's own leg is in another call, as that of half a Local channel."""
        return bool(self.replaces)

    @property
    def is_held_by_phone(self) -> bool:
        """Whether its phone holds its other party; before the answer it is not on hold."""
        return self.held_by_phone and self.state == "up"

    @property
    def is_held(self) -> bool:
        """Whether it is on hold, by a request or by its phone."""
        return self.held or self.is_held_by_phone

    @property
    def ring_timeout_ms(self) -> int:
        return int(self.ring_timeout_s * 1000)

    @property
    def ring_deadline_ms(self) -> int:
        """Time by which its party must answer."""
        return self.requested_ms + self.ring_timeout_ms

    @property
    def agent(self) -> str:
        """Id of the agent that was called, or that the dial or a session named; empty: none."""
        called = Party.parse(self.party).agent_id
        return called if called is not None else self.agent_id or self.named_agent

    def with_holds(self, now: int, *, held: bool, held_by_phone: bool) -> "Leg":
        """Return the leg with these holds since now; the time of a hold that ends is added."""
        leg = replace(self, held=held, held_by_phone=held_by_phone)
        if leg.is_held == self.is_held:
            return leg
        if leg.is_held:
            return replace(leg, held_since_ms=now)
        lasted_ms = max(0, now - self.held_since_ms) if self.held_since_ms else 0
        held_ms = self.held_ms + lasted_ms
        return replace(leg, held_since_ms=0, held_ms=held_ms, held_until_ms=now)

    def with_talk(self, now: int) -> "Leg":
        """Return the leg in a conversation since now."""
        return replace(self, talking_since_ms=now)

    def without_talk(self, now: int) -> "Leg":
        """Return the leg out of its conversation, with that time added."""
        lasted_ms = max(0, now - self.talking_since_ms) if self.talking_since_ms else 0
        return replace(self, talking_since_ms=0, talk_ms=self.talk_ms + lasted_ms)


class EndedLeg(Struct, frozen=True, array_like=True, gc=False):
    """A leg that has ended, with its outcome."""

    leg: Leg
    ended_ms: int
    status: Status
    cause: int
    sip_code: int = 0
    reason: str = ""  # why its party was not called
    ended_by: EndedBy = ""
    unseen_ms: int = 0  # it ended at an unknown time in this time after `ended_ms`
