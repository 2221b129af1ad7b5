"""What can happen to a call: past tense, as values; the only input of `step`."""

from engine.calls.model.base import StoredEvent
from engine.calls.model.io_results import (
    ActionFailed,
    ActionReceived,
    ApiRequestFailed,
    ApiRequestSucceeded,
    FlowNodeLoaded,
    FlowStarted,
    MediaFetched,
)
from engine.calls.model.requests import ControlRequest, HangupRequested, ReferReceived


class CallOpened(StoredEvent, frozen=True, tag="call-opened"):
    """The call was made: its first event."""


class LegCreated(StoredEvent, frozen=True, tag="leg-created"):
    """A leg that we asked for exists and is ours to command; its party is not called yet."""

    leg: str


class LegRinging(StoredEvent, frozen=True, tag="leg-ringing"):
    """The leg's phone rings."""

    leg: str


class LegAnswered(StoredEvent, frozen=True, tag="leg-answered"):
    """The leg is up."""

    leg: str


class LegEnded(StoredEvent, frozen=True, tag="leg-ended"):
    """The leg's channel is gone, with its Q.850 cause and, where known, the SIP status.

    `reason` is why it never was: its party may not be called.
    """

    leg: str
    cause: int
    sip_code: int = 0
    reason: str = ""


class DigitPressed(StoredEvent, frozen=True, tag="digit-pressed"):
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


class TalkStarted(StoredEvent, frozen=True, tag="talk-started"):
    """A leg that is listened to began to make a sound."""

    leg: str


class TalkEnded(StoredEvent, frozen=True, tag="talk-ended"):
    """A leg that is listened to has been silent for a while; its sound lasted so long."""

    leg: str
    duration_ms: int


class PlaybackEnded(StoredEvent, frozen=True, tag="playback-ended"):
    """A playback came to its end, or could not go on."""

    playback: str
    failed: bool = False


class VoicemailEnded(StoredEvent, frozen=True, tag="voicemail-ended"):
    """The recording of a message came to its end, or could not begin."""

    name: str
    failed: bool = False


class BridgeFailed(StoredEvent, frozen=True, tag="bridge-failed"):
    """Legs could not be joined."""

    bridge: str
    reason: str
    legs: tuple[str, ...] = ()


class RecordingsArchived(StoredEvent, frozen=True, tag="recordings-archived"):
    """Tapes are in the archive as one recording of that length; or they are not yet, or nowhere.

    `fault`: `lost` when the PBX has none of them; what else it says may yet be mended.
    """

    request: str
    duration_ms: int = 0
    fault: str = ""


class DeadlinePassed(StoredEvent, frozen=True, tag="deadline-passed"):
    """The call's own next deadline is here."""


class Recovered(StoredEvent, frozen=True, tag="recovered"):
    """Another life of the engine took the call up; what was missed has been told before."""

    bridged: tuple[tuple[str, str], ...] = ()  # each leg that is in a bridge, and which
    left_over: tuple[str, ...] = ()  # bridges of its own that it has no use for


Event = (
    CallOpened
    | LegCreated
    | LegRinging
    | LegAnswered
    | LegEnded
    | DigitPressed
    | TalkStarted
    | TalkEnded
    | MediaFetched
    | PlaybackEnded
    | VoicemailEnded
    | ActionReceived
    | ActionFailed
    | FlowStarted
    | FlowNodeLoaded
    | ApiRequestSucceeded
    | ApiRequestFailed
    | BridgeFailed
    | HangupRequested
    | ReferReceived
    | RecordingsArchived
    | ControlRequest
    | DeadlinePassed
    | Recovered
)
