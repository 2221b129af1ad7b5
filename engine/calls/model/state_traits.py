"""What holds in each state of a call: a table for docs/architecture.md, and what the core asks."""

from msgspec import Struct

from engine.calls.model.call_states import (
    Advance,
    ArchivingRecordings,
    AwaitingInstructions,
    Bridged,
    CallState,
    Detecting,
    Dialing,
    Ended,
    Ending,
    Gathering,
    Pausing,
    Playing,
    RecordingVoicemail,
    Starting,
    Streaming,
)
from wire.verbs import Verb


class StateTraits(Struct, frozen=True):
    """A row of the table; deadlines do not exceed the call's own limit, `Call.must_end_ms`."""

    ends_when: str
    deadline: str
    on_hold: str = "allowed"  # of the main leg
    recorded: str = "yes"  # by the recording of the conversation


CALL_STATES: dict[str, StateTraits] = {
    "starting": StateTraits(
        "the main leg answers",
        "the main leg's ring timeout: the call is hung up",
        on_hold="rejected: not answered",
        recorded="not yet",
    ),
    "detecting": StateTraits(
        "answer detection has a result",
        "when the result is known without another sound",
    ),
    "playing": StateTraits(
        "the playback ends, or no audio could be fetched",
        "20 s for the fetch, then the length of the audio and 5 s",
        on_hold="suspends the playback",
    ),
    "gathering": StateTraits(
        "enough digits, the terminator, a timeout, or the end of the leg",
        "of the phase: fetch, prompt, first digit, between digits",
        on_hold="suspends the prompt and the clocks",
    ),
    "recording": StateTraits(
        "the terminator, silence or the maximum length, and then the file is archived",
        "the maximum length, then 5 s for the archive",
        on_hold="rejected: a voicemail is recorded",
    ),
    "pausing": StateTraits(
        "its time has passed",
        "the pause's length",
        on_hold="suspends the pause",
    ),
    "streaming": StateTraits(
        "the bot ends it, a request stops it, or it is lost and `onLost` gives up",
        "the verb's limit; 50 ms for the report of an ended stream, or the delay of the next try",
    ),
    "dialing": StateTraits(
        "a leg answers and passes its screening, or no leg is left",
        "the ring timeout, or the time limit of a screening stage",
        on_hold="allowed; rejected for a leg in screening",
    ),
    "awaiting-instructions": StateTraits(
        "a webhook, a stored flow or an API request answers or fails",
        "17 s for a webhook or an API request, 5 s for a flow",
    ),
    "bridged": StateTraits(
        "only one party is left",
        "the dial's time limit",
    ),
    "ending": StateTraits(
        "the last leg ends",
        "5 s; the hangup is repeated three times",
        on_hold="rejected: ended",
        recorded="until the main leg ends",
    ),
    "archiving-recordings": StateTraits(
        "all recordings are archived or lost",
        "10 s; archiving continues after the call has ended",
        on_hold="rejected: ended",
        recorded="no",
    ),
    "ended": StateTraits(
        "never",
        "none",
        on_hold="rejected: ended",
        recorded="no",
    ),
}

TRANSIENT = ("advance",)  # states that one step leaves before it returns


def running_verb(state: CallState) -> Verb | None:
    """Return the verb that runs; None while none does, or while it is still being fetched."""
    match state:
        case Playing() | Gathering() | RecordingVoicemail() | Pausing():
            return state.verb
        case Streaming() | Dialing() | Bridged():
            return state.verb
        case Starting() | Detecting() | Advance() | AwaitingInstructions():
            return None
        case Ending() | ArchivingRecordings() | Ended():
            return None


def restartable_verb(state: CallState) -> Verb | None:
    """Return the verb that a conversation interrupts, and that restarts afterwards."""
    match state:
        case Playing() | Gathering() | RecordingVoicemail() | Pausing():
            return state.verb
        case Streaming():
            return None  # it waits in the continuation
        case Starting() | Detecting() | Advance() | AwaitingInstructions() | Dialing() | Bridged():
            return None
        case Ending() | ArchivingRecordings() | Ended():
            return None


def active_prompt(state: CallState) -> tuple[str, int] | None:
    """Return the playback that the state waits for, and when it ends; 0: it has failed."""
    match state:
        case Gathering():
            is_active = state.phase == "prompt" and not state.suspended
            return (state.request, state.ends_ms) if is_active else None
        case Playing():
            is_active = bool(state.clips) and not state.suspended
            return (state.request, state.ends_ms) if is_active else None
        case Starting() | Detecting() | Advance() | AwaitingInstructions() | Dialing() | Bridged():
            return None
        case RecordingVoicemail() | Pausing() | Streaming():
            return None
        case Ending() | ArchivingRecordings() | Ended():
            return None


def paused_prompt(state: CallState) -> str | None:
    """Return the prompt that a sound of the caller has paused, if any."""
    return state.request if isinstance(state, Gathering) and state.paused_ms else None


def active_voicemail(state: CallState) -> str | None:
    """Return the voicemail that is being recorded, if any."""
    match state:
        case (
            Gathering() | Playing() | Starting() | Detecting() | Pausing() | AwaitingInstructions()
        ):
            return None
        case RecordingVoicemail(recording=name, request=request):
            return None if request else name
        case Streaming() | Advance() | Dialing() | Bridged():
            return None
        case Ending() | ArchivingRecordings() | Ended():
            return None


def digit_window(state: CallState, from_ms: int) -> int | None:
    """Return since when a state accepts digits of its leg, if it does.

    `from_ms` is the leg's `digits_from_ms`: 0 before its answer.
    """
    match state:
        case Gathering(since_ms=since_ms, suspended=suspended):
            return None if suspended else from_ms or since_ms or None
        case RecordingVoicemail(started_ms=started_ms, ended_ms=ended_ms):
            # The key that ended the recording may be reported after its end.
            return (state.digits_from_ms if from_ms == ended_ms else from_ms) or started_ms
        case Detecting() | Playing() | Pausing() | AwaitingInstructions():
            return from_ms or None
        case Streaming(since_ms=since_ms):
            return max(from_ms, since_ms)  # they are the bot's
        case Starting() | Advance() | Dialing() | Bridged():
            return None
        case Ending() | ArchivingRecordings() | Ended():
            return None


def keeps_digits(state: CallState) -> bool:
    """Return whether digits that the state does not use are kept for the next gather."""
    match state:
        case Detecting() | Playing() | Pausing() | AwaitingInstructions():
            return True
        case RecordingVoicemail(request=request):
            return bool(request)  # the recording has ended
        case Starting() | Gathering() | Streaming() | Advance() | Dialing() | Bridged():
            return False
        case Ending() | ArchivingRecordings() | Ended():
            return False
