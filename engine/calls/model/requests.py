"""What somebody asked of a call while it lives: events, as those of the PBX are."""

from typing import Literal

from engine.calls.model.base import StoredEvent
from engine.calls.model.leg import Muted
from engine.calls.model.sessions import TransferMode

RecordingAction = Literal["start", "pause", "resume", "stop"]  # of a recording


class HangupRequested(StoredEvent, frozen=True, tag="hangup-requested"):
    """Somebody asked for the end of the call."""

    by: str
    cause: int = 16


class LegHangupRequested(StoredEvent, frozen=True, tag="leg-hangup-requested"):
    """Somebody asked for the end of one leg; the rest of the call goes on."""

    leg: str


class MuteRequested(StoredEvent, frozen=True, tag="mute-requested"):
    """Somebody asked for a leg to be silenced in a direction; empty: to be heard again."""

    leg: str
    direction: Muted


class HoldRequested(StoredEvent, frozen=True, tag="hold-requested"):
    """Somebody asked for a leg to be put on hold, or to be taken off it."""

    leg: str
    held: bool


class DialRequested(StoredEvent, frozen=True, tag="dial-requested"):
    """Somebody asked for one more party in the conversation."""

    party: str
    ring_s: float
    caller_id: str = ""


class TransferRequested(StoredEvent, frozen=True, tag="transfer-requested"):
    """Somebody asked for a party, the customer, to be handed from the source to a new one."""

    mode: TransferMode
    source: str
    customer: str
    party: str
    ring_s: float = 30.0
    source_agent: str = ""
    target_name: str = ""
    music: str | None = None  # address of what the customer hears meanwhile


class TransferCompletionRequested(StoredEvent, frozen=True, tag="transfer-completion-requested"):
    """The source asked to be left out: the customer and the target remain."""

    session: str
    by: str
    reason: str


class TransferCancelRequested(StoredEvent, frozen=True, tag="transfer-cancel-requested"):
    """The source asked for the customer back."""

    session: str
    by: str
    reason: str


class ReferReceived(StoredEvent, frozen=True, tag="refer-received"):
    """A phone asked, by SIP REFER, for its other party to be handed to a new one.

    `replaces`: it named a call of its own for that (RFC 3891), not a number.
    """

    leg: str
    party: str
    replaces: bool = False


class AddMemberRequested(StoredEvent, frozen=True, tag="add-member-requested"):
    """Somebody asked for a party to be called into a conference; without one it is made."""

    party: str
    by: str
    ring_s: float = 30.0
    session: str = ""
    agent_id: str = ""
    name: str = ""
    music: str | None = None


class KickRequested(StoredEvent, frozen=True, tag="kick-requested"):
    """Somebody asked for a member to be put out; `leave`: the member did so itself."""

    session: str
    leg: str
    by: str
    is_leave: bool = False


class CoachRequested(StoredEvent, frozen=True, tag="coach-requested"):
    """Somebody asked for a member to be heard by one other only; no other: by all again."""

    session: str
    leg: str
    coached: str = ""


class RecordingRequested(StoredEvent, frozen=True, tag="recording-requested"):
    """Somebody asked for the conversation to be recorded, or not, or for a pause."""

    wanted: RecordingAction


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
)

CallRequest = HangupRequested | ControlRequest
