"""The action verbs that customers send and calls run, and what holds of each.

Sent as JSON with a `type` (docs/reference/verbs.md); `wire.tree` checks what the types cannot.
Durations, as customers write them: gather in milliseconds, dial and flow timeouts in seconds.
`onError` is what runs instead of a verb whose audio cannot be played. From each verb follows its
node in flows (`wire.flow`).
"""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, field

from wire.answer_detection import Confirm, MachineDetection, Prompt
from wire.base import CallerId, Language, Milliseconds, Name, Party, Seconds, Shape, Text, Url
from wire.decoding import patterns
from wire.media import Audio, Source, Speech, Tone
from wire.streams.recognizer import MAX_SILENCE_MS, MAX_UTTERANCE_MS, Hints, Rate, RecognizerName
from wire.streams.setup import BargeIn, Parameters, Protocol, Track

AgentId = Annotated[Text, Meta(min_length=1, max_length=128)]
ReferenceId = Annotated[Text, Meta(min_length=1, max_length=256)]


class PlayData(Shape, frozen=True):
    """Audio to play: one address, or several in sequence, all of it `loop` times."""

    audio_url: Url | Annotated[tuple[Url, ...], Meta(min_length=1, max_length=20)]
    loop: Annotated[int, Meta(ge=1, le=100)] = 1

    @property
    def sources(self) -> tuple[Source, ...]:
        """The audio, in playing order."""
        urls = (self.audio_url,) if isinstance(self.audio_url, str) else self.audio_url
        return tuple(map(Audio, urls))


class SayData(Shape, frozen=True):
    """A text to speak, and its voice; a language is a BCP 47 tag (`en`, `hi-IN`)."""

    text: Annotated[str, Meta(min_length=1, max_length=4000)]
    voice: Name | None = None
    language: Language = "en"
    ssml: bool = False

    @property
    def sources(self) -> tuple[Source, ...]:
        """The text, as speech."""
        return (Speech(self.text, self.voice, self.language, self.ssml),)


GRAMMAR, GRAMMAR_CONFIDENCE = "grammar", 0.5  # what it returns always is one of its hints
GatherInput = Literal["digits", "speech"]


class Endpointing(Shape, frozen=True):
    """When an utterance ends: after `silenceMs` of silence, or after `maxMs`."""

    silence_ms: Annotated[int, Meta(ge=100, le=MAX_SILENCE_MS)] = 700
    max_ms: Annotated[int, Meta(ge=500, le=MAX_UTTERANCE_MS)] = 15_000


class GatherData(Prompt, frozen=True):
    """Digits to collect, or speech to understand: their leg, the prompt and when to stop.

    `language` is that of the prompt and of the speech. `bargeIn` is what a sound of the caller does
    to the prompt: pause it, and drop it only for speech; drop it at once; or nothing, and the
    caller is listened to after the prompt.
    """

    max_digits: Annotated[int, Meta(ge=1, le=64)] = 64
    timeout: Milliseconds = 5_000
    digit_timeout: Milliseconds = 2_000
    terminator: Annotated[str, Meta(pattern=patterns.TERMINATOR)] = "#"
    channel_id: Annotated[str, Meta(min_length=1, max_length=149)] | None = None
    fallback: "Verb | None" = None
    type_ahead: bool = True  # digits pressed before it count, unless another verb took them
    sensitive: bool = False  # its digits are told to its webhook only (cards, PINs)
    input: Annotated[tuple[GatherInput, ...], Meta(min_length=1, max_length=2)] = ("digits",)
    recognizer: RecognizerName = GRAMMAR
    hints: Hints = ()  # words and phrases that are likely; a grammar understands only them
    endpointing: Endpointing = Endpointing()
    min_confidence: Annotated[float, Meta(ge=0, le=1)] | None = None  # less is no match
    barge_in: BargeIn = "pause"

    @property
    def least_confidence(self) -> float:
        """The confidence below which speech is no match; by default that of its recognizer."""
        if self.min_confidence is not None:
            return self.min_confidence
        return GRAMMAR_CONFIDENCE if self.recognizer == GRAMMAR else 0.0

    @property
    def hears_speech(self) -> bool:
        """Whether speech is understood."""
        return "speech" in self.input

    @property
    def takes_digits(self) -> bool:
        """Whether digits are collected."""
        return "digits" in self.input


BEEP = Tone(1_000, 250)


class RecordData(Prompt, frozen=True):
    """A message to record: the prompt and when to stop; times in seconds.

    With `silence` 0, only the terminator, the maximum length or a hangup ends it.
    """

    beep: bool = True
    max_length: Annotated[int, Meta(ge=1, le=3_600)] = 120
    silence: Annotated[int, Meta(ge=0, le=60)] = 5
    terminator: Annotated[str, Meta(pattern=patterns.TERMINATOR)] = "#"

    @property
    def sources(self) -> tuple[Source, ...]:
        """The prompt and the tone."""
        return (*super().sources, *((BEEP,) if self.beep else ()))


StreamUrl = Annotated[str, Meta(pattern=patterns.STREAM_URL, max_length=2048)]
StreamLoss = Literal["retry", "continue", "hangup"]


class StreamData(Shape, frozen=True):
    """A bot to which the call's audio is streamed, and from which the caller hears audio.

    A `fork` starts beside what runs, and the bot only listens. `onLost` is what follows when the
    bot is lost: it is called again, the tree continues, or the call is hung up.
    """

    url: StreamUrl
    protocol: Protocol = "twilio"
    rate: Rate = 8000  # of the audio; Twilio's protocol has 8000
    track: Track = "both"  # of a fork
    parameters: Parameters | None = None
    barge_in: BargeIn = "off"
    max_duration: Seconds | None = None
    on_lost: StreamLoss = "retry"
    fork: bool = False


class PauseData(Shape, frozen=True):
    """The length of a silence, in seconds."""

    length: Seconds


class MusicOnHold(Shape, frozen=True):
    """Whether the waiting party hears music instead of ringing."""

    enable: bool = False


class DialData(Shape, frozen=True):
    """The party to dial: a number, or an agent; or, for type flow, the flow.

    `number` is a number, `agent:1001` or `sip:user@host`, or a list that rings all at once.

    `agent_id` and `reference_id` are part of every event of the call from then on, and of its
    record. Beside a number or a flow, `agent_id` may be any text.

    The answering party is connected after machine detection, `whisper` and the key of `confirm`,
    if these are requested.
    """

    number: Party | Annotated[tuple[Party, ...], Meta(min_length=1, max_length=10)] | None = None
    flow_id: Name | None = None
    agent_id: AgentId | None = field(default=None, name="agent_id")
    reference_id: ReferenceId | None = field(default=None, name="reference_id")
    caller_id: CallerId | None = None
    time_limit: Seconds | None = None
    moh: MusicOnHold = MusicOnHold()
    whisper: "Verb | None" = None
    confirm: Confirm | None = None
    machine_detection: MachineDetection | bool = False
    early_media: bool = False  # the caller hears what the one party sends before it answers


class FlowData(Shape, frozen=True):
    """The stored flow to run; for `agent_id` and `reference_id` see `dial`."""

    flow_id: Name
    agent_id: AgentId | None = field(default=None, name="agent_id")
    reference_id: ReferenceId | None = field(default=None, name="reference_id")


class RedirectData(Shape, frozen=True):
    """The address that is asked for the next tree, and what runs if the request fails."""

    url: Annotated[Url, Meta(description="Address of the webhook that returns the next verb.")]
    fallback: Annotated["Verb | None", Meta(description="What runs if the request fails.")] = None


class HangupData(Shape, frozen=True):
    """How a caller that is not answered yet is rejected; without effect on others."""

    reason: Literal["rejected", "busy"] = "rejected"


_NO_EFFECT = "It has no effect"
ANY_VARIABLE = "*"  # what a verb sets that runs verbs which are not known before
VerbTag = Literal[
    "play", "say", "gather", "record", "pause", "stream", "dial", "flow", "redirect", "hangup"
]  # fmt: skip


class VerbShape(Shape, frozen=True):
    """Base of the verbs: what holds of one unless it says otherwise."""

    node: ClassVar[str]  # what its node does in a flow
    node_omits: ClassVar[tuple[str, ...]] = ()  # fields without effect there
    needs_call: ClassVar[bool] = True  # its node can't run in a conversation of messages
    waits: ClassVar[bool] = False  # for a caller, a party or a server: flows may repeat its node
    results: ClassVar[tuple[str, ...]] = ()  # the variables of a flow that it sets

    @property
    def tag(self) -> VerbTag:
        """Its name, as in `type`."""
        tag: VerbTag = self.__struct_config__.tag  # type: ignore[assignment]  # typed as any tag
        return tag

    @property
    def needs_media(self) -> bool:
        """Whether it needs an answered call."""
        return False


class AudibleVerb(VerbShape, frozen=True):
    """Base of the verbs that play audio, which `onError` replaces."""

    @property
    def needs_media(self) -> bool:
        return True


class Play(AudibleVerb, frozen=True, tag="play"):
    """Play audio to the leg, then continue."""

    node = "Play audio to the caller."

    data: PlayData
    action: "Action | None" = None
    timeout: Seconds | None = None
    on_error: "Action | None" = None


class Say(AudibleVerb, frozen=True, tag="say"):
    """Speak a text to the leg, then continue."""

    node = "Speak a text to the caller."
    needs_call = False

    data: SayData
    action: "Action | None" = None
    timeout: Seconds | None = None
    on_error: "Action | None" = None


class Gather(AudibleVerb, frozen=True, tag="gather"):
    """Collect digits and report them to the action, an address or an object."""

    node = "Collect digits or speech, available as `{{digits}}` and `{{speech}}` afterwards."
    waits = True
    results = ("digits", "speech")

    data: GatherData = GatherData()
    action: "Action | None" = None
    timeout: Seconds | None = None
    on_error: "Action | None" = None


class Record(AudibleVerb, frozen=True, tag="record"):
    """Record a message and report it to the action; `timeout` is the prompt's."""

    node = "Record a message, available at `{{record.url}}` afterwards."
    waits = True
    results = ("record.url", "record.duration")

    data: RecordData = RecordData()
    action: "Action | None" = None
    timeout: Seconds | None = None
    on_error: "Action | None" = None


class Pause(VerbShape, frozen=True, tag="pause"):
    """Wait in silence, then continue."""

    node = "Wait in silence."
    node_omits = ("timeout",)

    data: PauseData
    action: "Action | None" = None
    timeout: Seconds | None = None


class Stream(VerbShape, frozen=True, tag="stream"):
    """Connect the caller with a bot over a websocket, then report the result to the action."""

    node = "Connect the caller with a bot; why that ended is `{{stream.reason}}` afterwards."
    waits = True
    results = ("stream.reason",)

    data: StreamData
    action: "Action | None" = None
    timeout: Seconds | None = None

    @property
    def needs_media(self) -> bool:
        return True


class Dial(VerbShape, frozen=True, tag="dial"):
    """Dial a party, bridge on answer, continue when that leg has ended; timeout in seconds."""

    node = "Dial a party; the result is `{{dial.status}}` afterwards."
    waits = True
    results = tuple(
        f"dial.{each}" for each in ("status", "cause", "duration", "number", "answeredBy", "reason")
    )

    data: DialData
    action: "Action | None" = None
    timeout: Seconds | None = None
    moh: MusicOnHold | None = None

    @property
    def has_music(self) -> bool:
        """Whether the caller hears music instead of ringing."""
        return (self.moh or self.data.moh).enable

    @property
    def needs_media(self) -> bool:
        return self.data.flow_id is None and self.has_music


class Flow(VerbShape, frozen=True, tag="flow"):
    """Run a stored flow, then continue."""

    node = "Run another flow, with the same variables."
    node_omits = ("timeout",)
    needs_call = False
    waits = True  # perhaps
    results = (ANY_VARIABLE,)

    data: FlowData
    action: "Action | None" = None
    timeout: Annotated[Seconds | None, Meta(description=f"{_NO_EFFECT}.")] = None


class Redirect(VerbShape, frozen=True, tag="redirect"):
    """Ask another webhook for the tree that takes the place of this one."""

    node = "Run the tree that a webhook returns."
    node_omits = ("timeout",)
    waits = True
    results = (ANY_VARIABLE,)

    data: RedirectData
    action: Annotated["Action | None", Meta(description=f"{_NO_EFFECT}: the response runs.")] = None
    timeout: Annotated[Seconds | None, Meta(description=f"{_NO_EFFECT}.")] = None


class Hangup(VerbShape, frozen=True, tag="hangup"):
    """End the call."""

    node = "End the call."
    node_omits = ("action", "timeout")

    data: HangupData = HangupData()
    action: Annotated["Action | None", Meta(description=f"{_NO_EFFECT}: the call has ended.")] = (
        None
    )
    timeout: Annotated[Seconds | None, Meta(description=f"{_NO_EFFECT}.")] = None


Verb = Play | Say | Gather | Record | Pause | Stream | Dial | Flow | Redirect | Hangup
Action = Verb | Url
PromptVerb = Play | Say | Gather | Record
SingleLegVerb = Play | Say | Gather  # these may run on a leg that is not connected yet
SINGLE_LEG_VERBS = (Play, Say, Gather)
