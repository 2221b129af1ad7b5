"""The action verbs: what a customer sends and what a call runs, one definition for both.

Sent as JSON with a `type` (spec, "Call action"); `wire.tree` checks what one field cannot say.
Durations: gather in milliseconds, dial and flow timeouts in seconds, as the specification has them.
"""

from typing import Annotated

from msgspec import Meta, field

from wire import patterns
from wire.answer_detection import Confirm, MachineDetection, Prompt
from wire.base import CallerId, Language, Milliseconds, Name, Number, Seconds, Shape, Url


class PlayData(Shape, frozen=True):
    """What to play: one address or several, one after another."""

    audio_url: Url | Annotated[tuple[Url, ...], Meta(min_length=1, max_length=20)]


class SayData(Shape, frozen=True):
    """What to say, and in which voice; a language is a BCP 47 tag (`en`, `hi-IN`)."""

    text: Annotated[str, Meta(min_length=1, max_length=4000)]
    voice: Name | None = None
    language: Language = "en"
    ssml: bool = False


class GatherData(Prompt, frozen=True):
    """Digits to collect: from which leg, after which prompt, until when."""

    max_digits: Annotated[int, Meta(ge=1, le=64)] = 64
    timeout: Milliseconds = 5_000
    digit_timeout: Milliseconds = 2_000
    terminator: Annotated[str, Meta(pattern=patterns.TERMINATOR)] = "#"
    channel_id: Annotated[str, Meta(min_length=1, max_length=149)] | None = None
    fallback: "Verb | None" = None


class RecordData(Prompt, frozen=True):
    """A message to record: after which prompt, and what ends it; times in seconds.

    `silence` of 0: only the terminator, the longest time, or the end of the call.
    """

    beep: bool = True
    max_length: Annotated[int, Meta(ge=1, le=3_600)] = 120
    silence: Annotated[int, Meta(ge=0, le=60)] = 5
    terminator: Annotated[str, Meta(pattern=patterns.TERMINATOR)] = "#"


class MusicOnHold(Shape, frozen=True):
    """Whether the waiting party hears music instead of ringing."""

    enable: bool = False


class DialData(Shape, frozen=True):
    """Whom to call: a number, several at once, or an agent; or, for type flow, what to run.

    Who answers is connected when a machine has been told from a person, `whisper` has been heard
    and the key of `confirm` pressed, as far as these are asked for.
    """

    number: Number | Annotated[tuple[Number, ...], Meta(min_length=1, max_length=10)] | None = None
    flow_id: Name | None = None
    agent_id: Name | None = field(default=None, name="agent_id")
    reference_id: Annotated[str, Meta(max_length=256)] | None = field(
        default=None, name="reference_id"
    )
    caller_id: CallerId | None = None
    time_limit: Seconds | None = None
    moh: MusicOnHold = MusicOnHold()
    whisper: "Verb | None" = None
    confirm: Confirm | None = None
    machine_detection: MachineDetection | bool = False


class FlowData(Shape, frozen=True):
    """Which stored flow to run."""

    flow_id: Name


class HangupData(Shape, frozen=True):
    """Nothing: a hangup needs no data."""


class Play(Shape, frozen=True, tag="play"):
    """Play audio to the leg, then go on."""

    data: PlayData
    action: "Action | None" = None
    timeout: Seconds | None = None


class Say(Shape, frozen=True, tag="say"):
    """Speak a text to the leg, then go on."""

    data: SayData
    action: "Action | None" = None
    timeout: Seconds | None = None


class Gather(Shape, frozen=True, tag="gather"):
    """Collect digits and tell the action, an address or an object."""

    data: GatherData = GatherData()
    action: "Action | None" = None
    timeout: Seconds | None = None


class Record(Shape, frozen=True, tag="record"):
    """Record a message and tell the action, an address or an object; timeout is the prompt's."""

    data: RecordData = RecordData()
    action: "Action | None" = None
    timeout: Seconds | None = None


class Dial(Shape, frozen=True, tag="dial"):
    """Call someone, bridge on answer, and go on when that leg has ended; timeout in seconds."""

    data: DialData
    action: "Action | None" = None
    timeout: Seconds | None = None
    moh: MusicOnHold | None = None


class Flow(Shape, frozen=True, tag="flow"):
    """Run a stored flow, then go on."""

    data: FlowData
    action: "Action | None" = None
    timeout: Seconds | None = None


class Hangup(Shape, frozen=True, tag="hangup"):
    """End the call."""

    data: HangupData = HangupData()
    action: "Action | None" = None
    timeout: Seconds | None = None


Verb = Play | Say | Gather | Record | Dial | Flow | Hangup
Action = Verb | Url
