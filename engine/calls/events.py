"""What can happen to a call: past tense, as values; the only input of `step`."""

from typing import Literal

from msgspec import Struct

from engine.calls.leg import Muted
from engine.calls.sessions import TransferMode
from wire.flow import Node, Scalar
from wire.media import Clip
from wire.verbs import Action

Wanted = Literal["start", "pause", "resume", "stop"]  # of a recording
Tries = tuple[tuple[int, int], ...]  # of a webhook: how long each took in ms, and its status


class _Event(Struct, frozen=True, array_like=True, tag_field="e"):
    """What all events share: stored as tagged arrays in the call's log."""


class CallOpened(_Event, frozen=True, tag="open"):
    """The call was made: its first event."""


class LegPlaced(_Event, frozen=True, tag="placed"):
    """A leg that we asked for exists and is ours to command; its party is not called yet."""

    leg: str


class LegRang(_Event, frozen=True, tag="rang"):
    """The leg's phone rings."""

    leg: str


class LegAnswered(_Event, frozen=True, tag="answered"):
    """The leg is up."""

    leg: str


class LegEnded(_Event, frozen=True, tag="ended"):
    """The leg's channel is gone, with its Q.850 cause and, where known, the SIP status.

    `reason` is why it never was: its party may not be called.
    """

    leg: str
    cause: int
    sip_code: int = 0
    reason: str = ""


class DigitPressed(_Event, frozen=True, tag="digit"):
    """A key was pressed on a leg; `pressed_ms` is its key-down, told at its key-up."""

    leg: str
    digit: str
    pressed_ms: int
    held_ms: int = 0
    pbx_ms: int = 0  # when the PBX told it, by its own clock; 0: it did not say
    missed: bool = False  # while nobody ran the call: known by other ears (`keys`)

    @property
    def up_ms(self) -> int:
        """When it was let go."""
        return self.pressed_ms + self.held_ms


class TalkStarted(_Event, frozen=True, tag="talks"):
    """A leg that is listened to began to make a sound."""

    leg: str


class TalkEnded(_Event, frozen=True, tag="talked"):
    """A leg that is listened to has been silent for a while; its sound lasted so long."""

    leg: str
    duration_ms: int


class MediaFetched(_Event, frozen=True, tag="media"):
    """The audio asked for is at hand, in the order asked; what could not be had is left out."""

    request: str
    clips: tuple[Clip, ...]
    faults: tuple[str, ...] = ()


class PlaybackEnded(_Event, frozen=True, tag="played"):
    """A playback came to its end, or could not go on."""

    playback: str
    failed: bool = False


class MessageEnded(_Event, frozen=True, tag="message"):
    """The recording of a message came to its end, or could not begin."""

    name: str
    failed: bool = False


class ActionReplied(_Event, frozen=True, tag="replied"):
    """A webhook or a stored flow said what to do next; None: nothing more."""

    request: str
    action: Action | None
    tries: Tries = ()


class ActionFailed(_Event, frozen=True, tag="unreplied"):
    """A webhook or a stored flow gave nothing that can run."""

    request: str
    reason: str
    tries: Tries = ()


class FlowEntered(_Event, frozen=True, tag="flow"):
    """A stored flow is a graph of nodes: it begins at one, and stays as this version has it."""

    request: str
    flow_id: str
    version: int
    start: str


class NodeLoaded(_Event, frozen=True, tag="node"):
    """A node of a flow was read; what it says of the call is filled in."""

    request: str
    name: str
    node: Node


class ApiAnswered(_Event, frozen=True, tag="api"):
    """An API request was answered well, with these values."""

    request: str
    status: int
    values: dict[str, Scalar | None]
    tries: Tries = ()


class ApiFailed(_Event, frozen=True, tag="unapi"):
    """An API request brought nothing; the status if there was one, else 0."""

    request: str
    reason: str
    status: int = 0
    tries: Tries = ()


class BridgeFailed(_Event, frozen=True, tag="unbridged"):
    """Legs could not be joined."""

    bridge: str
    reason: str
    legs: tuple[str, ...] = ()


class HangupRequested(_Event, frozen=True, tag="hangup"):
    """Somebody asked for the end of the call."""

    by: str
    cause: int = 16


class LegHangupRequested(_Event, frozen=True, tag="leg-hangup"):
    """Somebody asked for the end of one leg; the rest of the call goes on."""

    leg: str


class MuteRequested(_Event, frozen=True, tag="mute"):
    """Somebody asked for a leg to be silenced in a direction; empty: to be heard again."""

    leg: str
    direction: Muted


class HoldRequested(_Event, frozen=True, tag="hold"):
    """Somebody asked for a leg to be put on hold, or to be taken off it."""

    leg: str
    held: bool


class DialRequested(_Event, frozen=True, tag="dial"):
    """Somebody asked for one more party in the conversation."""

    party: str
    ring_s: float
    caller_id: str = ""


class TransferRequested(_Event, frozen=True, tag="transfer"):
    """Somebody asked for a party, the customer, to be handed from the source to a new one."""

    mode: TransferMode
    source: str
    customer: str
    party: str
    ring_s: float = 30.0
    source_agent: str = ""
    target_name: str = ""
    music: str | None = None  # address of what the customer hears meanwhile


class TransferCompletionRequested(_Event, frozen=True, tag="transfer-complete"):
    """The source asked to be left out: the customer and the target remain."""

    session: str
    by: str
    reason: str


class TransferCancelRequested(_Event, frozen=True, tag="transfer-cancel"):
    """The source asked for the customer back."""

    session: str
    by: str
    reason: str


class MemberRequested(_Event, frozen=True, tag="add-members"):
    """Somebody asked for a party to be called into a conference; without one it is made."""

    party: str
    by: str
    ring_s: float = 30.0
    session: str = ""
    agent_id: str = ""
    name: str = ""
    music: str | None = None


class KickRequested(_Event, frozen=True, tag="kick"):
    """Somebody asked for a member to be put out; `leave`: the member did so itself."""

    session: str
    leg: str
    by: str
    is_leave: bool = False


class CoachRequested(_Event, frozen=True, tag="coach"):
    """Somebody asked for a member to be heard by one other only; no other: by all again."""

    session: str
    leg: str
    coached: str = ""


class TransferReferred(_Event, frozen=True, tag="refer"):
    """A phone asked, by SIP REFER, for its other party to be handed to a new one.

    `replaces`: it named a call of its own for that (RFC 3891), not a number.
    """

    leg: str
    party: str
    replaces: bool = False


class RecordingRequested(_Event, frozen=True, tag="record"):
    """Somebody asked for the conversation to be recorded, or not, or for a pause."""

    wanted: Wanted


class TapesFiled(_Event, frozen=True, tag="filed"):
    """Tapes are in the archive as one recording of that length; or they are not yet, or nowhere.

    `fault`: `lost` when the PBX has none of them; what else it says may yet be mended.
    """

    request: str
    duration_ms: int = 0
    fault: str = ""


class DeadlinePassed(_Event, frozen=True, tag="due"):
    """The call's own next deadline is here."""


class Recovered(_Event, frozen=True, tag="recovered"):
    """Another life of the engine took the call up; what was missed has been told before."""

    bridged: tuple[tuple[str, str], ...] = ()  # each leg that is in a bridge, and which


Control = (
    LegHangupRequested
    | MuteRequested
    | HoldRequested
    | DialRequested
    | TransferRequested
    | TransferCompletionRequested
    | TransferCancelRequested
    | MemberRequested
    | KickRequested
    | CoachRequested
    | RecordingRequested
)
Event = (
    CallOpened
    | LegPlaced
    | LegRang
    | LegAnswered
    | LegEnded
    | DigitPressed
    | TalkStarted
    | TalkEnded
    | MediaFetched
    | PlaybackEnded
    | MessageEnded
    | ActionReplied
    | ActionFailed
    | FlowEntered
    | NodeLoaded
    | ApiAnswered
    | ApiFailed
    | BridgeFailed
    | HangupRequested
    | TransferReferred
    | TapesFiled
    | Control
    | DeadlinePassed
    | Recovered
)
