"""Commands: what `step` asks the PBX, the engine and the recorder to do.

Each carries ids that were allocated before it runs, so that running it twice is harmless.
"""

from typing import Literal

from msgspec import Struct

from engine.calls.model.event_and_command_bases import StoredCommand
from engine.calls.model.io_commands import IoCommand, PrefetchMedia
from engine.calls.model.leg import MuteDirection
from engine.calls.model.stream_commands import StreamCommand
from wire.answer_detection import AnsweredBy
from wire.events.call_events import CallEvent
from wire.media import Clip


class StartRecording(StoredCommand, frozen=True, tag="start-recording"):
    """Record what a leg says (left channel) and hears (right channel) to a file on the PBX."""

    leg: str
    name: str


class MuteRecording(StoredCommand, frozen=True, tag="mute-recording"):
    """Mute or unmute a leg's recording; a muted one records silence."""

    leg: str
    muted: bool


class StopRecording(StoredCommand, frozen=True, tag="stop-recording"):
    """Stop a leg's recording; it also stops when its leg ends."""

    leg: str
    name: str


class ArchiveRecordings(StoredCommand, frozen=True, tag="archive-recordings"):
    """Archive files as one recording; RecordingsArchived is the result."""

    request: str
    names: tuple[str, ...]


RecordingCommand = StartRecording | MuteRecording | StopRecording | ArchiveRecordings


class Answer(StoredCommand, frozen=True, tag="answer"):
    """Answer an inbound leg."""

    leg: str


class ReplacedLeg(Struct, frozen=True, array_like=True):
    """A leg of another call, whose place a party takes, and what that call learns of the party."""

    leg: str
    app: str  # the Stasis app of its call's slot
    account: str
    party: str


class Originate(StoredCommand, frozen=True, tag="originate"):
    """Create a leg to a party (a number, `agent:1001`, or a sip: address) without calling it.

    A withheld caller id is not shown to the party; only a trusted trunk gets it. The codec of the
    originator, another leg of the call, is offered first. With `replaces` no party is called: the
    leg is one half of a Local channel, which connects its call to another.
    """

    leg: str
    party: str
    caller_id: str
    withheld: bool = False
    originator: str = ""
    replaces: ReplacedLeg | None = None
    trunk: int = 0  # its number among those of the account


class Dial(StoredCommand, frozen=True, tag="dial"):
    """Call the party of a created leg; the only command that must not run twice."""

    leg: str
    timeout_s: int


class Hangup(StoredCommand, frozen=True, tag="hangup"):
    """End a leg with a Q.850 cause."""

    leg: str
    cause: int
    is_repeated: bool = False  # its end is overdue: a leg that the PBX does not know has ended


class Play(StoredCommand, frozen=True, tag="play"):
    """Play clips to a leg, one after another, from `offset_ms` of the first."""

    leg: str
    playback: str
    clips: tuple[Clip, ...]
    offset_ms: int = 0
    may_pause: bool = False  # by PausePlayback


class StopPlayback(StoredCommand, frozen=True, tag="stop-playback"):
    """Stop a playback."""

    playback: str


class PausePlayback(StoredCommand, frozen=True, tag="pause-playback"):
    """Pause a playback, which keeps its position."""

    playback: str


class ResumePlayback(StoredCommand, frozen=True, tag="resume-playback"):
    """Continue a paused playback where it stopped."""

    playback: str


class StartHoldMusic(StoredCommand, frozen=True, tag="start-hold-music"):
    """Play the default hold music to a leg."""

    leg: str


class StopHoldMusic(StoredCommand, frozen=True, tag="stop-hold-music"):
    """Stop a leg's default hold music."""

    leg: str


class StartRinging(StoredCommand, frozen=True, tag="start-ringing"):
    """Play a ringing tone to a leg."""

    leg: str


class StopRinging(StoredCommand, frozen=True, tag="stop-ringing"):
    """Stop a leg's ringing tone."""

    leg: str


class AddToBridge(StoredCommand, frozen=True, tag="add-to-bridge"):
    """Create a bridge if it does not exist, and add legs to it."""

    bridge: str
    legs: tuple[str, ...]


class DestroyBridge(StoredCommand, frozen=True, tag="destroy-bridge"):
    """Destroy a bridge; its legs stay up."""

    bridge: str


class RemoveFromBridge(StoredCommand, frozen=True, tag="remove-from-bridge"):
    """Remove a leg from a bridge; done when the leg has left it."""

    bridge: str
    leg: str


class Mute(StoredCommand, frozen=True, tag="mute"):
    """Mute a leg: `in` what it says, `out` what it hears, or `both`."""

    leg: str
    direction: MuteDirection


class Unmute(StoredCommand, frozen=True, tag="unmute"):
    """Undo a mute of the same direction."""

    leg: str
    direction: MuteDirection


class Snoop(StoredCommand, frozen=True, tag="snoop"):
    """Create a channel that hears what a leg says and hears, and that only this leg hears."""

    snoop: str
    leg: str


class Listen(Snoop, frozen=True, tag="listen"):
    """Create a snoop that nobody hears: it hears what a leg says (`in`), hears (`out`), or both."""

    track: Literal["in", "out", "both"]


ReferOutcome = Literal["", "in-progress", "unavailable"]


class AnswerRefer(StoredCommand, frozen=True, tag="answer-refer"):
    """Notify a phone of its REFER's outcome (SIP NOTIFY, RFC 3515): 200, or 603 if not accepted.

    `outcome`: `in-progress` is 100, and another notification follows; `unavailable` is 503.
    """

    leg: str
    accepted: bool
    outcome: ReferOutcome = ""


class ResetConverter(StoredCommand, frozen=True, tag="reset-converter"):
    """Make a new converter for what a leg hears: the old one has seen another party's packets."""

    leg: str


class StartTalkDetection(StoredCommand, frozen=True, tag="start-talk-detection"):
    """Report a leg's sounds; `silence_ms` of silence end one."""

    leg: str
    silence_ms: int


class StopTalkDetection(StoredCommand, frozen=True, tag="stop-talk-detection"):
    """Stop reporting a leg's sounds: it is known who answered."""

    leg: str
    answered_by: AnsweredBy


class StartVoicemail(StoredCommand, frozen=True, tag="start-voicemail"):
    """Record what a leg says to a file on the PBX, until one of these limits (in seconds)."""

    leg: str
    name: str
    longest_s: int
    silence_s: int  # 0: silence does not end it
    terminator: str


class StopVoicemail(StoredCommand, frozen=True, tag="stop-voicemail"):
    """Stop recording a voicemail; the file is kept."""

    name: str


class EmitEvent(StoredCommand, frozen=True, tag="emit-event"):
    """Emit an event; it is committed with the call and delivered from the store."""

    event: CallEvent


PbxCommand = (
    Answer
    | Originate
    | Dial
    | Hangup
    | Play
    | StopPlayback
    | PausePlayback
    | ResumePlayback
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
    | Listen
    | ResetConverter
    | StartTalkDetection
    | StopTalkDetection
    | AnswerRefer
    | StartVoicemail
    | StopVoicemail
)
Command = PbxCommand | IoCommand | RecordingCommand | StreamCommand | PrefetchMedia | EmitEvent
