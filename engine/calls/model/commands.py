"""What a call wants done: imperative, as values; the only output of `step` beside the call.

Each names ids chosen before it is done, so that doing it twice is harmless (design section 3.4).
"""

from engine.calls.model.base import StoredCommand
from engine.calls.model.io_commands import IoCommand, PrefetchMedia
from engine.calls.model.leg import MuteDirection
from wire.answer_detection import AnsweredBy
from wire.events import CallEvent
from wire.media import Clip


class StartRecording(StoredCommand, frozen=True, tag="start-recording"):
    """Record what a leg says (left) and hears (right) to a file of the PBX."""

    leg: str
    name: str


class MuteRecording(StoredCommand, frozen=True, tag="mute-recording"):
    """Let a leg's tape run on in silence, or hear again."""

    leg: str
    muted: bool


class StopRecording(StoredCommand, frozen=True, tag="stop-recording"):
    """End a leg's tape; it ends by itself when its leg does."""

    leg: str
    name: str


class ArchiveRecordings(StoredCommand, frozen=True, tag="archive-recordings"):
    """Put tapes into the archive as one recording and tell, by TapesFiled."""

    request: str
    names: tuple[str, ...]


RecordingCommand = StartRecording | MuteRecording | StopRecording | ArchiveRecordings


class Answer(StoredCommand, frozen=True, tag="answer"):
    """Answer an inbound leg."""

    leg: str


class Originate(StoredCommand, frozen=True, tag="originate"):
    """Make a leg to a party (a number, `agent:1001`, or a sip: address); nobody is called yet."""

    leg: str
    party: str
    caller_id: str


class Dial(StoredCommand, frozen=True, tag="dial"):
    """Call the party of a leg that has been made; to be done once."""

    leg: str
    timeout_s: int


class Hangup(StoredCommand, frozen=True, tag="hangup"):
    """End a leg with a Q.850 cause."""

    leg: str
    cause: int


class Play(StoredCommand, frozen=True, tag="play"):
    """Play clips to a leg, one after another; `offset_ms` into the first."""

    leg: str
    playback: str
    clips: tuple[Clip, ...]
    offset_ms: int = 0


class StopPlayback(StoredCommand, frozen=True, tag="stop-playback"):
    """End a playback before its time."""

    playback: str


class StartHoldMusic(StoredCommand, frozen=True, tag="start-hold-music"):
    """Play music on hold to a leg."""

    leg: str


class StopHoldMusic(StoredCommand, frozen=True, tag="stop-hold-music"):
    """End a leg's music on hold."""

    leg: str


class StartRinging(StoredCommand, frozen=True, tag="start-ringing"):
    """Let a leg hear that another phone rings."""

    leg: str


class StopRinging(StoredCommand, frozen=True, tag="stop-ringing"):
    """End a leg's ringing tone."""

    leg: str


class AddToBridge(StoredCommand, frozen=True, tag="add-to-bridge"):
    """Make a bridge and join legs in it."""

    bridge: str
    legs: tuple[str, ...]


class DestroyBridge(StoredCommand, frozen=True, tag="destroy-bridge"):
    """Take a bridge down; its legs live on."""

    bridge: str


class RemoveFromBridge(StoredCommand, frozen=True, tag="remove-from-bridge"):
    """Take a leg out of a bridge; done when it has left."""

    bridge: str
    leg: str


class Mute(StoredCommand, frozen=True, tag="mute"):
    """Silence a leg: `in` what it says, `out` what it hears, `both`."""

    leg: str
    direction: MuteDirection


class Unmute(StoredCommand, frozen=True, tag="unmute"):
    """Undo a mute of the same direction."""

    leg: str
    direction: MuteDirection


class Snoop(StoredCommand, frozen=True, tag="snoop"):
    """Make a channel that hears all that a leg says and hears, and is heard by that leg alone."""

    snoop: str
    leg: str


class AnswerRefer(StoredCommand, frozen=True, tag="answer-refer"):
    """Tell a phone that asked for a transfer whether it was accepted (SIP NOTIFY, RFC 3515)."""

    leg: str
    accepted: bool


class StartTalkDetection(StoredCommand, frozen=True, tag="start-talk-detection"):
    """Have a leg's sounds told; one ends when it has been silent for so long."""

    leg: str
    silence_ms: int


class StopTalkDetection(StoredCommand, frozen=True, tag="stop-talk-detection"):
    """Have no more of a leg's sounds told: it is known who answered."""

    leg: str
    answered_by: AnsweredBy


class StartVoicemail(StoredCommand, frozen=True, tag="start-voicemail"):
    """Record what a leg says, to a file of the PBX, until one of these ends it; in seconds."""

    leg: str
    name: str
    longest_s: int
    silence_s: int  # 0: silence ends nothing
    terminator: str


class StopVoicemail(StoredCommand, frozen=True, tag="stop-voicemail"):
    """End the recording of a message; it is kept."""

    name: str


class EmitEvent(StoredCommand, frozen=True, tag="emit-event"):
    """Tell the outside what happened; committed with the state, delivered from there."""

    event: CallEvent


PbxCommand = (
    Answer
    | Originate
    | Dial
    | Hangup
    | Play
    | StopPlayback
    | StartHoldMusic
    | StopHoldMusic
    | StartRinging
    | StopRinging
    | AddToBridge
    | DestroyBridge
    | RemoveFromBridge
    | Mute
    | Unmute
    | Snoop
    | StartTalkDetection
    | StopTalkDetection
    | AnswerRefer
    | StartVoicemail
    | StopVoicemail
)
Command = PbxCommand | IoCommand | RecordingCommand | PrefetchMedia | EmitEvent
