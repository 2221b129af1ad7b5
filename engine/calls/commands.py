"""What a call wants done: imperative, as values; the only output of `step` beside the call.

Each names ids chosen before it is done, so that doing it twice is harmless (design section 3.4).
"""

from msgspec import Struct

from engine.calls.leg import MuteDirection
from wire.answering import AnsweredBy
from wire.events import CallEvent
from wire.media import Clip, Source


class _Command(Struct, frozen=True, array_like=True, tag_field="c"):
    """What all commands share: stored as tagged arrays in the call's outbox."""


class Answer(_Command, frozen=True, tag="answer"):
    """Answer an inbound leg."""

    leg: str


class Originate(_Command, frozen=True, tag="originate"):
    """Make a leg to a party (a number, `agent:1001`, or a sip: address); nobody is called yet."""

    leg: str
    party: str
    caller_id: str


class Ring(_Command, frozen=True, tag="dial"):
    """Call the party of a leg that has been made; to be done once."""

    leg: str
    timeout_s: int


class Hangup(_Command, frozen=True, tag="hangup"):
    """End a leg with a Q.850 cause."""

    leg: str
    cause: int


class Play(_Command, frozen=True, tag="play"):
    """Play clips to a leg, one after another; `offset_ms` into the first."""

    leg: str
    playback: str
    clips: tuple[Clip, ...]
    offset_ms: int = 0


class StopPlayback(_Command, frozen=True, tag="stop"):
    """End a playback before its time."""

    playback: str


class StartMusic(_Command, frozen=True, tag="moh"):
    """Play music on hold to a leg."""

    leg: str


class StopMusic(_Command, frozen=True, tag="unmoh"):
    """End a leg's music on hold."""

    leg: str


class StartRinging(_Command, frozen=True, tag="ring"):
    """Let a leg hear that another phone rings."""

    leg: str


class StopRinging(_Command, frozen=True, tag="unring"):
    """End a leg's ringing tone."""

    leg: str


class Bridge(_Command, frozen=True, tag="bridge"):
    """Make a bridge and join legs in it."""

    bridge: str
    legs: tuple[str, ...]


class DestroyBridge(_Command, frozen=True, tag="unbridge"):
    """Take a bridge down; its legs live on."""

    bridge: str


class Leave(_Command, frozen=True, tag="leave"):
    """Take a leg out of a bridge; done when it has left."""

    bridge: str
    leg: str


class Mute(_Command, frozen=True, tag="mute"):
    """Silence a leg: `in` what it says, `out` what it hears, `both`."""

    leg: str
    direction: MuteDirection


class Unmute(_Command, frozen=True, tag="unmute"):
    """Undo a mute of the same direction."""

    leg: str
    direction: MuteDirection


class Snoop(_Command, frozen=True, tag="snoop"):
    """Make a channel that hears all that a leg says and hears, and is heard by that leg alone."""

    snoop: str
    leg: str


class AnswerReferral(_Command, frozen=True, tag="refer"):
    """Tell a phone that asked for a transfer whether it was accepted (SIP NOTIFY, RFC 3515)."""

    leg: str
    accepted: bool


class DetectTalk(_Command, frozen=True, tag="detect"):
    """Have a leg's sounds told; one ends when it has been silent for so long."""

    leg: str
    silence_ms: int


class EndDetection(_Command, frozen=True, tag="detected"):
    """Have no more of a leg's sounds told: it is known who answered."""

    leg: str
    answered_by: AnsweredBy


class StartTape(_Command, frozen=True, tag="tape"):
    """Record what a leg says (left) and hears (right) to a file of the PBX."""

    leg: str
    name: str


class MuteTape(_Command, frozen=True, tag="mute-tape"):
    """Let a leg's tape run on in silence, or hear again."""

    leg: str
    muted: bool


class StopTape(_Command, frozen=True, tag="stop-tape"):
    """End a leg's tape; it ends by itself when its leg does."""

    leg: str
    name: str


class FileTapes(_Command, frozen=True, tag="file"):
    """Put tapes into the archive as one recording and tell, by TapesFiled."""

    request: str
    names: tuple[str, ...]


class StartMessage(_Command, frozen=True, tag="message"):
    """Record what a leg says, to a file of the PBX, until one of these ends it; in seconds."""

    leg: str
    name: str
    longest_s: int
    silence_s: int  # 0: silence ends nothing
    terminator: str


class StopMessage(_Command, frozen=True, tag="stop-message"):
    """End the recording of a message; it is kept."""

    name: str


class FetchMedia(_Command, frozen=True, tag="fetch"):
    """Get audio ready and tell, by MediaFetched."""

    request: str
    sources: tuple[Source, ...]


class Prefetch(_Command, frozen=True, tag="prefetch"):
    """Get audio ready that the tree will want later; nobody waits."""

    sources: tuple[Source, ...]


class AskWebhook(_Command, frozen=True, tag="ask"):
    """Ask a customer's server for the next action; `request` is the idempotency key."""

    request: str
    url: str
    body: bytes  # JSON, of wire.hooks


class LoadFlow(_Command, frozen=True, tag="flow"):
    """Read a stored flow: a tree, filled in, or the way into a graph."""

    request: str
    flow_id: str


class LoadNode(_Command, frozen=True, tag="node"):
    """Read a node of a flow that runs, and fill it in."""

    request: str
    flow_id: str
    version: int
    node: str


class AskApi(_Command, frozen=True, tag="api"):
    """Send a stored API request, filled in; `request` is the idempotency key."""

    request: str
    api: str


class Tell(_Command, frozen=True, tag="tell"):
    """Tell the outside what happened; committed with the state, delivered from there."""

    event: CallEvent


PbxCommand = (
    Answer
    | Originate
    | Ring
    | Hangup
    | Play
    | StopPlayback
    | StartMusic
    | StopMusic
    | StartRinging
    | StopRinging
    | Bridge
    | DestroyBridge
    | Leave
    | Mute
    | Unmute
    | Snoop
    | DetectTalk
    | EndDetection
    | AnswerReferral
    | StartMessage
    | StopMessage
)
Errand = FetchMedia | AskWebhook | LoadFlow | LoadNode | AskApi
TapeCommand = StartTape | MuteTape | StopTape | FileTapes
Command = PbxCommand | Errand | TapeCommand | Prefetch | Tell
