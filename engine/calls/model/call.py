"""The call: everything that must survive the death of an engine, as one frozen value."""

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.causes import Status
from engine.calls.model.commands import Command
from engine.calls.model.leg import EndedLeg, Leg, Muted
from engine.calls.model.recording import Recording, RecordingDestination
from engine.calls.model.sessions import Conference, Transfer
from engine.calls.model.state import (
    Advance,
    ArchivingRecordings,
    Bridged,
    CallState,
    Dialing,
    Ended,
    Ending,
)
from wire.answer_detection import AnsweredBy
from wire.callback_targets import CallTarget, format_target
from wire.flow import Scalar
from wire.verbs import Action
from wire.webhooks import GatherReason


class Frame(Struct, frozen=True, tag="frame"):
    """One of what comes after, on top while the flow runs; `exits` lead from the node."""

    flow_id: str
    version: int
    node: str = ""
    exits: tuple[tuple[str, str], ...] = ()  # by the field that names the next node

    def exit(self, name: str) -> str | None:
        """Name the node that an exit leads to."""
        return dict(self.exits).get(name)


class CollectedDigits(Struct, frozen=True, array_like=True):
    """What one gather collected."""

    at_ms: int
    leg: str
    digits: str
    reason: GatherReason


class Call(Struct, frozen=True, array_like=True):
    """One call on one slot and one node for life; times are wall-clock milliseconds."""

    id: str
    account: str
    direction: Literal["inbound", "outbound"]
    from_: str
    to: str
    main: str  # the leg that the tree runs on
    legs: tuple[Leg, ...]  # the live ones
    state: CallState
    created_ms: int
    must_end_ms: int  # no call lives longer
    status: Status = "queued"
    caller_id: str = ""
    continuation: tuple[
        Action | Frame, ...
    ] = ()  # what comes after, and the flows that are running
    id_seq: int = 0  # numbers the ids that we choose
    event_seq: int = 0  # numbers what the outside is told
    verbs_started: int = 0  # how many have begun
    answered_ms: int = 0
    ended_ms: int = 0
    cause: int = 0
    sip_code: int = 0
    ended_by: str = ""
    reason: str = ""
    custom_data: dict[str, Any] | None = None
    contact: dict[str, Any] | None = None
    invited: tuple[str, ...] = ()  # legs that are called into the conversation
    transfers: tuple[Transfer, ...] = ()  # the last may be live
    conferences: tuple[Conference, ...] = ()  # the last may be live
    answered_by: AnsweredBy | None = None  # who the call was made to, where it was detected
    recording_destination: RecordingDestination | None = None  # None: no recording can be kept
    recording_enabled: bool = False  # its conversation, from now on
    recording_paused: bool = False  # the recording hears nothing
    recordings: tuple[Recording, ...] = ()
    ended_legs: tuple[EndedLeg, ...] = ()  # the legs that have ended
    ended_legs_omitted: int = 0  # and how many before these
    collected: tuple[CollectedDigits, ...] = ()
    held_since_ms: int = 0  # some leg is on hold
    held_ms: int = 0  # before that
    labels: dict[str, str] | None = None  # for its record only
    callback_target: CallTarget | None = None  # who is told of it
    variables: dict[str, Scalar] = {}  # of flows, under their whole name
    visits: dict[str, int] = {}  # of the nodes of flows

    @property
    def delivery_key(self) -> str:
        """Where its events go: the account and the target; empty when nobody is told."""
        return (
            f"{self.account} {format_target(self.callback_target)}" if self.callback_target else ""
        )

    def leg(self, leg_id: str) -> Leg | None:
        """Find a live leg."""
        for leg in self.legs:
            if leg.id == leg_id:
                return leg
        return None

    def is_up(self, leg_id: str) -> bool:
        """Tell whether a leg is live and answered."""
        leg = self.leg(leg_id)
        return leg is not None and leg.state == "up"

    def muted(self, leg_id: str) -> Muted:
        """Tell how a leg is muted."""
        leg = self.leg(leg_id)
        return leg.muted if leg is not None else ""

    @property
    def transfer(self) -> Transfer | None:
        """Give the live transfer."""
        return self.transfers[-1] if self.transfers and self.transfers[-1].is_live else None

    @property
    def conference(self) -> Conference | None:
        """Give the live conference."""
        last = self.conferences[-1] if self.conferences else None
        return last if last and last.is_live else None

    @property
    def is_ended(self) -> bool:
        """Whether nothing more can happen to it."""
        return isinstance(self.state, Ended)


Step = tuple[Call, tuple[Command, ...]]


def is_expected(call: Call, leg_id: str) -> bool:
    """Tell whether a leg has a part in what the call does; one that has none is to hang up."""
    leg = call.leg(leg_id)
    if leg is not None and leg.hangup_requested:
        return False
    match call.state:
        case Ending() | ArchivingRecordings() | Ended():
            return False
        case Dialing(legs=legs) | Bridged(legs=legs) if leg_id in legs:
            return True
        case _:
            return leg_id == call.main or leg_id in invited_legs(call)


def invited_legs(call: Call) -> tuple[str, ...]:
    """Name the legs that are called into what goes on, beside what the call itself does."""
    return (*call.invited, call.transfer.target) if call.transfer else call.invited


def with_leg(call: Call, leg: Leg) -> Call:
    """Put a leg in, in place of the one with the same id or as the last."""
    if call.leg(leg.id) is None:
        return replace(call, legs=(*call.legs, leg))
    return replace(call, legs=tuple(leg if old.id == leg.id else old for old in call.legs))


def is_held(call: Call, leg_id: str) -> bool:
    """Tell whether a leg is on hold."""
    leg = call.leg(leg_id)
    return leg is not None and leg.held


def agent_of(call: Call, leg_id: str) -> str:
    """Name the agent whose leg it is; empty when it is nobody's."""
    leg = call.leg(leg_id)
    return leg.agent if leg is not None else ""


def ring_deadline_ms(call: Call, leg_id: str, now: int, otherwise: int) -> int:
    """Tell until when a leg may ring whose party is called now; it rings already: `otherwise`."""
    leg = call.leg(leg_id)
    return now + leg.ring_timeout_ms if leg is not None and leg.state == "created" else otherwise


def allocate_id(call: Call, kind: str) -> tuple[Call, str]:
    """Choose the next id of a kind: `l` leg, `p` playback, `b` bridge, `r` request."""
    return replace(call, id_seq=call.id_seq + 1), f"{call.id}.{kind}{call.id_seq}"


def update_leg(call: Call, leg_id: str, **fields: Any) -> Call:
    """Change a leg, if it is live."""
    leg = call.leg(leg_id)
    return call if leg is None else with_leg(call, replace(leg, **fields))


def deadline_ms(call: Call) -> int | None:
    """Tell the one next moment when the call acts by itself; None when it is over."""
    own = own_deadline_ms(call)
    if own is None or not (call.invited or call.transfers):
        return own
    waiting = (leg for leg in call.legs if leg.id in invited_legs(call) and leg.state != "up")
    return min([own, *(leg.ring_deadline_ms for leg in waiting)])


def own_deadline_ms(call: Call) -> int | None:
    """Tell when what the call does itself is due, whoever else is being called."""
    match call.state:
        case Ended() | Advance():
            return None
        case Ending(deadline_ms=deadline) | ArchivingRecordings(deadline_ms=deadline):
            return deadline
        case Dialing() as doing:
            return min(doing.due_ms, call.must_end_ms)
        case doing:
            return min(doing.deadline_ms, call.must_end_ms)
