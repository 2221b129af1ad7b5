"""The call: one frozen value with everything that must survive a crash of the engine."""

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.call_states import (
    Advance,
    Bridged,
    CallState,
    ClosingState,
    Dialing,
    Ended,
    Streaming,
    UnbridgedState,
)
from engine.calls.model.causes import EndedBy, Status
from engine.calls.model.commands import Command, Originate
from engine.calls.model.continuation import Continuation
from engine.calls.model.leg import EndedLeg, Leg, Muted
from engine.calls.model.recording import Recording, RecordingDestination
from engine.calls.model.sessions import Conference, Transfer
from engine.calls.model.streams import EndedStream, Stream
from wire.answer_detection import AnsweredBy
from wire.callbacks.targets import CallTarget, format_target
from wire.flow import Scalar
from wire.media import MediaFault
from wire.party import Diversion
from wire.phone_numbers.international_form import dialled, international
from wire.verbs import DialData, FlowData
from wire.webhooks import GatherReason

# What an inbound call comes from: a trunk, and so from outside; an agent's phone, or another one
# that has logged in. Empty: the engine has placed the call.
CallerKind = Literal["", "trunk", "agent", "phone"]


class GatheredInput(Struct, frozen=True, array_like=True, gc=False):
    """What one gather collected or understood, for the call record."""

    at_ms: int
    leg: str
    digits: str
    reason: GatherReason
    speech: str = ""
    confidence: float | None = None  # of the speech; None: nobody spoke


class ConversationEnd(Struct, frozen=True, array_like=True, gc=False):
    """Who ended a conversation: a party, whose leg is then known, a request, or a limit."""

    by: EndedBy
    leg: str = ""
    cause: int = 0
    reason: str = ""


class CallMediaFault(Struct, frozen=True, omit_defaults=True, gc=False):
    """The last audio that could not be played, and the first one if that was another.

    They share a field of the call: most calls have none, and each field costs all calls bytes.
    """

    source: str
    reason: str
    first: MediaFault | None = None
    is_reported: bool = False


class Takeover(Struct, frozen=True, array_like=True, gc=False):
    """A recovery by an engine that did not have the call before, after this time without one."""

    at_ms: int
    engine: str
    uncontrolled_ms: int  # 0: unknown


class Call(Struct, frozen=True, array_like=True, gc=False):
    """One call. It stays on one slot and one PBX node; times are wall-clock milliseconds.

    No part of a call refers back to it, so the garbage collector tracks none of them (gc=False).
    """

    id: str
    account: str
    direction: Literal["inbound", "outbound"]
    from_: str
    to: str
    main: str  # the leg that the action tree runs on
    legs: tuple[Leg, ...]  # live legs only
    state: CallState
    created_ms: int
    must_end_ms: int  # the call is hung up then
    status: Status = "queued"
    caller_id: str = ""
    continuation: Continuation = ()
    id_seq: int = 0  # of ids that the call allocates
    event_seq: int = 0  # of emitted events
    verbs_started: int = 0  # since `verbs_since_ms`
    answered_ms: int = 0
    ended_ms: int = 0
    cause: int = 0
    sip_code: int = 0
    ended_by: EndedBy = ""
    reason: str = ""
    custom_data: dict[str, Any] | None = None
    contact: dict[str, Any] | None = None
    invited: tuple[str, ...] = ()  # legs being called into the conversation
    transfers: tuple[Transfer, ...] = ()  # only the last can be live
    conferences: tuple[Conference, ...] = ()  # only the last can be live
    answered_by: AnsweredBy | None = None  # result of answer detection on the called party
    recording_destination: RecordingDestination | None = None  # None: the call can't be recorded
    recording_enabled: bool = False
    recording_paused: bool = False  # the recording runs on in silence
    recordings: tuple[Recording, ...] = ()
    ended_legs: tuple[EndedLeg, ...] = ()  # the latest ones
    ended_legs_omitted: int = 0  # number of earlier ones
    gathered: tuple[GatheredInput, ...] = ()
    held_since_ms: int = 0  # since when a leg is on hold; 0: no hold
    held_ms: int = 0  # total of earlier holds
    labels: dict[str, str] | None = None  # copied to the call record only
    callback_target: CallTarget | None = None
    variables: dict[str, Scalar] = {}  # of flows, by full name
    visits: dict[str, int] = {}  # of flow nodes
    answer_deferred: bool = False  # an inbound call that rings until it needs media
    media_fault: CallMediaFault | None = None  # the last one, for the next webhook request
    privacy: bool = False  # the caller's number is withheld from the parties that are called
    diversion: tuple[Diversion, ...] = ()  # numbers that were called before, the first one first
    conversation_end: ConversationEnd | None = None  # of the last one, until another verb starts
    ended_by_leg: str = ""  # the leg that ended the call by its end
    has_run_verb: bool = True  # not only loaded flows and requested webhooks
    verbs_since_ms: int = 0
    talking_since_ms: int = 0  # since when two parties talk without a hold; 0: they do not
    talk_ms: int = 0  # total of earlier such times
    unseen_ms: int = 0  # it ended at an unknown time in this time after `ended_ms`
    agent_id: str = ""  # of the last dial or flow that named one; in every event from then on
    reference_id: str = ""
    taps_paused_until_ms: int = 0  # recordings and snoops start again then; 0: no pause
    sensitive_input: bool = False  # digits typed ahead are sealed (`verbs.sensitive_input`)
    ended_legs_omitted_ms: int = 0  # how long those that were dialled were up
    trunks: int = 1  # over which numbers can be called, one after another
    streams: tuple[Stream, ...] = ()  # live ones
    ended_streams: tuple[EndedStream, ...] = ()  # the latest ones
    sensitive_until_ms: int = 0  # digits in every state are sealed; 0: those of gathers only
    takeovers: tuple[Takeover, ...] = ()  # the latest ones
    caller_name: str = ""  # shown to agents; empty if withheld
    region: str = ""  # of its account's numbers without a country; empty: not known
    caller_kind: CallerKind = ""  # as decided when it began: a leg in the caller's place is no news
    replacements: int = 0  # legs that have taken another's place

    @property
    def delivery_key(self) -> str:
        """Account and callback target of its events; empty without a target."""
        target = self.callback_target
        return f"{self.account} {format_target(target)}" if target else ""

    @property
    def own_number(self) -> str:
        """The number of the call's account: the one that was called, or else the one shown."""
        if self.direction == "inbound":
            return self.to
        return self.caller_id or self.from_

    def leg(self, leg_id: str) -> Leg | None:
        """Return a live leg."""
        for leg in self.legs:
            if leg.id == leg_id:
                return leg
        return None

    def stream(self, stream_id: str) -> Stream | None:
        """Return a live stream."""
        for stream in self.streams:
            if stream.id == stream_id:
                return stream
        return None

    def is_up(self, leg_id: str) -> bool:
        """Return whether a leg is live and answered."""
        leg = self.leg(leg_id)
        return leg is not None and leg.state == "up"

    def muted(self, leg_id: str) -> Muted:
        leg = self.leg(leg_id)
        return leg.muted if leg is not None else ""

    @property
    def first_media_fault(self) -> MediaFault | None:
        """The first audio that could not be played, for the call's record."""
        fault = self.media_fault
        return (fault.first or MediaFault(fault.source, fault.reason)) if fault else None

    @property
    def awaits_answer(self) -> bool:
        """Whether its caller hears ringing, and the call must be answered before any media."""
        return self.answer_deferred and not self.is_up(self.main)

    @property
    def transfer(self) -> Transfer | None:
        """The live transfer, if any."""
        return self.transfers[-1] if self.transfers and self.transfers[-1].is_live else None

    @property
    def conference(self) -> Conference | None:
        """The live conference, if any."""
        last = self.conferences[-1] if self.conferences else None
        return last if last and last.is_live else None

    @property
    def is_ended(self) -> bool:
        return isinstance(self.state, Ended)


Step = tuple[Call, tuple[Command, ...]]

# leg, playback, bridge, request, snoop, transfer, conference, recording of the call, voicemail,
# stream
IdKind = Literal["l", "p", "b", "r", "s", "t", "f", "k", "v", "w"]


def is_expected(call: Call, leg_id: str) -> bool:
    """Return whether a leg has a role in the call's state; a leg without one is hung up."""
    leg = call.leg(leg_id)
    if leg is not None and leg.hangup_requested:
        return False
    match call.state:
        case ClosingState():
            return False
        case Dialing(legs=legs) | Bridged(legs=legs):
            return leg_id in legs or leg_id == call.main or leg_id in invited_legs(call)
        case UnbridgedState() | Streaming() | Advance():
            return leg_id == call.main or leg_id in invited_legs(call)


def invited_legs(call: Call) -> tuple[str, ...]:
    """Return the legs being called into the conversation: invited parties, a transfer's target."""
    return (*call.invited, call.transfer.target) if call.transfer else call.invited


def with_tracking(call: Call, data: DialData | FlowData) -> Call:
    """Store the tracking values of a dial or a flow, if it has any."""
    if not (data.agent_id or data.reference_id):
        return call
    return replace(call, agent_id=data.agent_id or "", reference_id=data.reference_id or "")


def with_leg(call: Call, leg: Leg) -> Call:
    """Replace the leg with the same id, or append it."""
    for place, old in enumerate(call.legs):
        if old.id == leg.id:
            return _with_leg_at(call, place, leg)
    return replace(call, legs=(*call.legs, leg))


def with_transfer(call: Call, transfer: Transfer) -> Call:
    """Replace the latest transfer."""
    return replace(call, transfers=(*call.transfers[:-1], transfer))


def with_conference(call: Call, conference: Conference) -> Call:
    """Replace the latest conference."""
    return replace(call, conferences=(*call.conferences[:-1], conference))


def is_held(call: Call, leg_id: str) -> bool:
    leg = call.leg(leg_id)
    return leg is not None and leg.is_held


def agent_of(call: Call, leg_id: str) -> str:
    """Return the agent id of a leg; empty when it is no agent's."""
    leg = call.leg(leg_id)
    return leg.agent if leg is not None else ""


def with_named_agent(call: Call, leg_id: str, agent_id: str) -> Call:
    """Store the agent that a request names as a leg's party, unless the leg is an agent's."""
    leg = call.leg(leg_id)
    if leg is None or leg.agent or not agent_id:
        return call
    return with_leg(call, replace(leg, named_agent=agent_id))


def allocate_id(call: Call, kind: IdKind) -> tuple[Call, str]:
    """Allocate the id of a part of the call."""
    return replace(call, id_seq=call.id_seq + 1), f"{call.id}.{kind}{call.id_seq}"


def update_leg(call: Call, leg_id: str, **fields: Any) -> Call:
    """Change fields of a leg, if it is live."""
    for place, leg in enumerate(call.legs):
        if leg.id == leg_id:
            return _with_leg_at(call, place, replace(leg, **fields))
    return call


def _with_leg_at(call: Call, place: int, leg: Leg) -> Call:
    return replace(call, legs=(*call.legs[:place], leg, *call.legs[place + 1 :]))


def full_party(call: Call, party: str) -> str:
    """Return a party as it is dialled, and shown in events and records: a number in E.164 form."""
    return dialled(party, call.region)


def originate(call: Call, leg_id: str, party: str, caller_id: str = "") -> Originate:
    """Return the command that creates a leg, showing a caller id or else the call's.

    The number of a caller who withheld it stays withheld, also if a verb names it as its caller id.
    """
    shown = international(caller_id, call.region) or call.caller_id
    given = "", call.caller_id, call.from_
    read = (international(each, call.region) for each in given)
    own = {each.lstrip("+0") for each in (*given, *read)}
    withheld = call.privacy and shown.lstrip("+0") in own
    originator = next((each.id for each in call.legs if each.id != leg_id), "")
    return Originate(leg_id, party, shown, withheld, originator)


def ring_deadline_ms(call: Call, leg_id: str, now: int, otherwise: int) -> int:
    """Return until when a leg that was just created may ring; `otherwise` in other states."""
    leg = call.leg(leg_id)
    return now + leg.ring_timeout_ms if leg is not None and leg.state == "created" else otherwise
