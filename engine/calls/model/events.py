"""Events: everything that `step` reacts to."""

from engine.calls.model.event_and_command_bases import StoredEvent
from engine.calls.model.io_results import (
    ActionFailed,
    ActionReceived,
    ApiRequestFailed,
    ApiRequestSucceeded,
    FlowNodeLoaded,
    FlowStarted,
    MediaFetched,
)
from engine.calls.model.requests import (
    ControlRequest,
    HangupRequested,
    ReferReceived,
    ReplacementArrived,
)
from engine.calls.model.stream_events import StreamEvent


class CallOpened(StoredEvent, frozen=True, tag="call-opened"):
    """The call was created: always its first event."""


class LegCreated(StoredEvent, frozen=True, tag="leg-created"):
    """A leg's channel exists and accepts commands; its party is not called yet."""

    leg: str


class AgentNamed(StoredEvent, frozen=True, tag="agent-named"):
    """The directory has a name for the agent of a leg that is about to be called."""

    leg: str
    name: str


class LegRinging(StoredEvent, frozen=True, tag="leg-ringing"):
    """A leg's phone rings."""

    leg: str


class LegAnswered(StoredEvent, frozen=True, tag="leg-answered"):
    """A leg was answered.

    `awaits_ack`: what is played to it before its ACK is lost; the event comes again after that.
    """

    leg: str
    awaits_ack: bool = False


class LegEnded(StoredEvent, frozen=True, tag="leg-ended"):
    """A leg's channel ended, with its Q.850 cause and, where known, the SIP status.

    `reason` is why it was never created: its party may not be called, or the PBX refused. `seen_ms`
    is when it ended, or, if that was unnoticed, when it was last known to be up; 0: just now.
    """

    leg: str
    cause: int
    sip_code: int = 0
    reason: str = ""
    seen_ms: int = 0


class LegReplaced(StoredEvent, frozen=True, tag="leg-replaced"):
    """Asterisk has put an answered channel in the place of a leg, whose end no event reports."""

    leg: str
    replaced: str


class DigitPressed(StoredEvent, frozen=True, tag="digit-pressed"):
    """A key was pressed on a leg; `pressed_ms` is its key-down, reported at its key-up."""

    leg: str
    digit: str
    pressed_ms: int
    held_ms: int = 0
    pbx_ms: int = 0  # when the PBX reported it, by its own clock; 0: unknown
    missed: bool = (
        False  # ARI did not deliver it; it was found in AMI's events (`recovery.missed_digits`)
    )

    @property
    def up_ms(self) -> int:
        """Time of its key-up."""
        return self.pressed_ms + self.held_ms


class LegHeldByPhone(StoredEvent, frozen=True, tag="leg-held-by-phone"):
    """A leg's phone put its other party on hold (a re-INVITE with sendonly or inactive)."""

    leg: str


class LegResumedByPhone(StoredEvent, frozen=True, tag="leg-resumed-by-phone"):
    """A leg's phone took its other party off hold."""

    leg: str


class DigitStarted(StoredEvent, frozen=True, tag="digit-started"):
    """A key went down on a leg at `pressed_ms` and is down when a gather's deadline passes.

    Its DigitPressed follows at key-up.
    """

    leg: str
    pressed_ms: int


class TalkStarted(StoredEvent, frozen=True, tag="talk-started"):
    """A leg with talk detection started to make a sound."""

    leg: str


class TalkEnded(StoredEvent, frozen=True, tag="talk-ended"):
    """A leg with talk detection fell silent; its sound lasted `duration_ms`."""

    leg: str
    duration_ms: int


class PlaybackEnded(StoredEvent, frozen=True, tag="playback-ended"):
    """A playback ended or failed."""

    playback: str
    failed: bool = False


class VoicemailEnded(StoredEvent, frozen=True, tag="voicemail-ended"):
    """The recording of a voicemail ended, or could not start."""

    name: str
    failed: bool = False


class BridgeFailed(StoredEvent, frozen=True, tag="bridge-failed"):
    """Legs could not be added to a bridge."""

    bridge: str
    reason: str
    legs: tuple[str, ...] = ()


class RecordingsArchived(StoredEvent, frozen=True, tag="recordings-archived"):
    """Files were archived as one recording of that length, or archiving failed.

    `fault`: `lost` when the PBX has none of the files; any other failure may be temporary.
    """

    request: str
    duration_ms: int = 0
    fault: str = ""


class CallDropped(StoredEvent, frozen=True, tag="call-dropped"):
    """An internal error: the call cannot continue, and ends at once."""

    reason: str


class DeadlinePassed(StoredEvent, frozen=True, tag="deadline-passed"):
    """The call's next deadline has passed."""


class ClockChanged(StoredEvent, frozen=True, tag="clock-changed"):
    """The clock of the call's engine has advanced by this much; negative: it has gone back."""

    by_ms: int


class Recovered(StoredEvent, frozen=True, tag="recovered"):
    """The call was recovered; the events that were missed come before this one."""

    bridged: tuple[tuple[str, str], ...] = ()  # (leg, bridge) of each leg that is in a bridge
    left_over: tuple[str, ...] = ()  # bridges of the call that it no longer needs
    restarted: tuple[str, ...] = ()  # playbacks that had not begun, and begin only now
    engine: str = ""  # that took the call over; empty: the engine that had it
    uncontrolled_ms: int = 0  # since an engine last saw the call's events; 0: unknown
    uncertain: tuple[str, ...] = ()  # playbacks taken for ended, which perhaps never began


Event = (
    CallOpened
    | AgentNamed
    | LegCreated
    | LegRinging
    | LegAnswered
    | LegEnded
    | LegReplaced
    | DigitPressed
    | LegHeldByPhone
    | LegResumedByPhone
    | DigitStarted
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
    | ReplacementArrived
    | RecordingsArchived
    | StreamEvent
    | ControlRequest
    | CallDropped
    | DeadlinePassed
    | ClockChanged
    | Recovered
)
