"""The call: everything that must survive the death of an engine, as one frozen value."""

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.causes import Status
from engine.calls.model.commands import Command
from engine.calls.model.leg import Leg, Muted, PastLeg
from engine.calls.model.recording import Archive, Tape
from engine.calls.model.sessions import Conference, Transfer
from engine.calls.model.state import Dialing, Doing, Ending, Filing, Next, Over, Talking
from wire.answer_detection import AnsweredBy
from wire.callback_targets import Target, written
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


class Gathered(Struct, frozen=True, array_like=True):
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
    doing: Doing
    created_ms: int
    latest_ms: int  # no call lives longer
    status: Status = "queued"
    caller_id: str = ""
    rest: tuple[Action | Frame, ...] = ()  # what comes after, and the flows that are running
    serial: int = 0  # numbers the ids that we choose
    told: int = 0  # numbers what the outside is told
    verbs: int = 0  # how many have begun
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
    archive: Archive | None = None  # None: no recording can be kept
    recorded: bool = False  # its conversation, from now on
    paused: bool = False  # the recording hears nothing
    tapes: tuple[Tape, ...] = ()
    past: tuple[PastLeg, ...] = ()  # the legs that have ended
    past_omitted: int = 0  # and how many before these
    gathered: tuple[Gathered, ...] = ()
    held_since_ms: int = 0  # some leg is on hold
    held_ms: int = 0  # before that
    labels: dict[str, str] | None = None  # for its record only
    target: Target | None = None  # who is told of it
    variables: dict[str, Scalar] = {}  # of flows, under their whole name
    visits: dict[str, int] = {}  # of the nodes of flows

    @property
    def way(self) -> str:
        """Where its events go: the account and the target; empty when nobody is told."""
        return f"{self.account} {written(self.target)}" if self.target else ""

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
    def is_over(self) -> bool:
        """Whether nothing more can happen to it."""
        return isinstance(self.doing, Over)


Step = tuple[Call, tuple[Command, ...]]


def expects(call: Call, leg_id: str) -> bool:
    """Tell whether a leg has a part in what the call does; one that has none is to hang up."""
    leg = call.leg(leg_id)
    if leg is not None and leg.let_go:
        return False
    match call.doing:
        case Ending() | Filing() | Over():
            return False
        case Dialing(legs=legs) | Talking(legs=legs) if leg_id in legs:
            return True
        case _:
            return leg_id == call.main or leg_id in ringing_in(call)


def ringing_in(call: Call) -> tuple[str, ...]:
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


def rings_until_ms(call: Call, leg_id: str, now: int, otherwise: int) -> int:
    """Tell until when a leg may ring whose party is called now; it rings already: `otherwise`."""
    leg = call.leg(leg_id)
    return now + leg.ring_ms if leg is not None and leg.state == "created" else otherwise


def numbered(call: Call, kind: str) -> tuple[Call, str]:
    """Choose the next id of a kind: `l` leg, `p` playback, `b` bridge, `r` request."""
    return replace(call, serial=call.serial + 1), f"{call.id}.{kind}{call.serial}"


def changed_leg(call: Call, leg_id: str, **fields: Any) -> Call:
    """Change a leg, if it is live."""
    leg = call.leg(leg_id)
    return call if leg is None else with_leg(call, replace(leg, **fields))


def deadline_ms(call: Call) -> int | None:
    """Tell the one next moment when the call acts by itself; None when it is over."""
    own = own_deadline_ms(call)
    if own is None or not (call.invited or call.transfers):
        return own
    waiting = (leg for leg in call.legs if leg.id in ringing_in(call) and leg.state != "up")
    return min([own, *(leg.rings_until_ms for leg in waiting)])


def own_deadline_ms(call: Call) -> int | None:
    """Tell when what the call does itself is due, whoever else is being called."""
    match call.doing:
        case Over() | Next():
            return None
        case Ending(deadline_ms=deadline) | Filing(deadline_ms=deadline):
            return deadline
        case Dialing() as doing:
            return min(doing.due_ms, call.latest_ms)
        case doing:
            return min(doing.deadline_ms, call.latest_ms)
