"""Requests to a live call, as events of `step`."""

from typing import Literal

from engine.calls.model.causes import EndedBy
from engine.calls.model.event_and_command_bases import StoredEvent
from engine.calls.model.leg import Muted
from engine.calls.model.sessions import TransferMode
from wire.verbs import StreamData

RecordingAction = Literal["start", "pause", "resume", "stop"]


class HangupRequested(StoredEvent, frozen=True, tag="hangup-requested"):
    """Hang up the call."""

    by: EndedBy
    cause: int = 16


class LegHangupRequested(StoredEvent, frozen=True, tag="leg-hangup-requested"):
    """Hang up one leg; the other legs stay."""

    leg: str


class MuteRequested(StoredEvent, frozen=True, tag="mute-requested"):
    """Mute a leg in a direction; an empty direction unmutes it."""

    leg: str
    direction: Muted


class HoldRequested(StoredEvent, frozen=True, tag="hold-requested"):
    """Put a leg on hold, or take it off hold."""

    leg: str
    held: bool


class DialRequested(StoredEvent, frozen=True, tag="dial-requested"):
    """Call another party into the conversation."""

    party: str
    ring_s: float
    caller_id: str = ""


class TransferRequested(StoredEvent, frozen=True, tag="transfer-requested"):
    """Transfer a party, the customer, from the source to a new party, the target."""

    mode: TransferMode
    source: str
    customer: str
    party: str
    ring_s: float = 30.0
    source_agent: str = ""
    target_name: str = ""
    music: str | None = None  # URL of the customer's hold music


class TransferCompletionRequested(StoredEvent, frozen=True, tag="transfer-completion-requested"):
    """Complete a transfer: the source leaves, the customer and the target stay."""

    session: str
    by: str
    reason: str


class TransferCancelRequested(StoredEvent, frozen=True, tag="transfer-cancel-requested"):
    """Cancel a transfer: the source gets the customer back."""

    session: str
    by: str
    reason: str


class ReferReceived(StoredEvent, frozen=True, tag="refer-received"):
    """A phone sent a SIP REFER to transfer its other party.

    `replaces`: the REFER names another call of the phone (RFC 3891), not a number: that of the leg
    `replaced`, which is in `replaced_app`; both are empty if this PBX does not have it.
    `rejection`: why the party cannot be called, as far as the engine knows.
    """

    leg: str
    party: str
    replaces: bool = False
    rejection: str = ""
    replaced: str = ""
    replaced_app: str = ""


class ReplacementArrived(StoredEvent, frozen=True, tag="replacement-arrived"):
    """A leg of another call wants to take the place of a leg, at the request of its phone."""

    leg: str
    replaced: str
    account: str
    party: str


class AddMemberRequested(StoredEvent, frozen=True, tag="add-member-requested"):
    """Call a party into the conference; create the conference when there is none."""

    party: str
    by: str
    ring_s: float = 30.0
    session: str = ""
    agent_id: str = ""
    name: str = ""
    music: str | None = None  # that the customer hears meanwhile
    source: str = ""
    customer: str = ""
    source_agent: str = ""


class KickRequested(StoredEvent, frozen=True, tag="kick-requested"):
    """Remove a member from the conference; `is_leave`: the member left by itself."""

    session: str
    leg: str
    by: str
    is_leave: bool = False


class CoachRequested(StoredEvent, frozen=True, tag="coach-requested"):
    """Let a member be heard by the coached member only; without one, by all members."""

    session: str
    leg: str
    coached: str = ""


class RecordingRequested(StoredEvent, frozen=True, tag="recording-requested"):
    """Start, pause, resume or stop the recording of the conversation."""

    wanted: RecordingAction


class ForkRequested(StoredEvent, frozen=True, tag="fork-requested"):
    """Let a bot listen to the call, unless it does so already."""

    data: StreamData


class StreamStopRequested(StoredEvent, frozen=True, tag="stream-stop-requested"):
    """End a stream; the tree continues."""

    stream: str


class StreamTextRequested(StoredEvent, frozen=True, tag="stream-text-requested"):
    """Send a text to the bot of a stream."""

    stream: str
    text: str


StreamRequest = ForkRequested | StreamStopRequested | StreamTextRequested

ControlRequest = (
    LegHangupRequested
    | MuteRequested
    | HoldRequested
    | DialRequested
    | TransferRequested
    | TransferCompletionRequested
    | TransferCancelRequested
    | AddMemberRequested
    | KickRequested
    | CoachRequested
    | RecordingRequested
    | StreamRequest
)

CallRequest = HangupRequested | ControlRequest
