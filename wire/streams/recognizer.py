"""What a stream gateway and a speech recognizer say to each other, on one websocket a stream.

The gateway sends RecognizerStart, then binary messages of audio (signed 16 bit, little endian,
mono, 20 ms each), at last RecognizerStop. Text messages are JSON; their `type` is the tag. Times
are milliseconds of the stream's audio.
"""

from typing import Annotated, Literal

from msgspec import Meta

from wire.base import Language, Shape
from wire.decoding import patterns

Rate = Literal[8000, 16000, 24000]
RecognizerName = Annotated[str, Meta(pattern=patterns.RECOGNIZER)]
BUILT_IN = ("grammar", "whisper")  # recognizers that cost nothing but the operator's processors
MAX_RECOGNIZERS = 32  # that an account may name
MAX_HINTS = 1_000
MAX_HINT_LENGTH = 100
MAX_SILENCE_MS = 10_000
MAX_UTTERANCE_MS = 60_000
_HintText = Annotated[str, Meta(min_length=1, max_length=MAX_HINT_LENGTH)]


def expected_recognizers(allowed: tuple[str, ...]) -> str:
    """Return which recognizers an account may name, for who has named another one."""
    names = ", ".join(allowed)
    return f"expected one that this account may name: {names}" if names else "this account has none"


class SpokenHint(Shape, frozen=True):
    """A hint whose words no dictionary knows, and how it is said, in known words."""

    text: _HintText
    sounds_like: _HintText


Hints = Annotated[tuple[_HintText | SpokenHint, ...], Meta(max_length=MAX_HINTS)]


class RecognizerStart(Shape, frozen=True, tag="start"):
    """The first message: what is spoken, and when an utterance ends."""

    language: Language = "en-US"
    rate: Rate = 8000
    hints: Hints = ()  # words and phrases that are likely; a grammar understands only them
    silence_ms: Annotated[int, Meta(ge=100, le=MAX_SILENCE_MS)] = 700  # ends an utterance
    max_ms: Annotated[int, Meta(ge=500, le=MAX_UTTERANCE_MS)] = 15_000  # of an utterance
    interim: bool = False
    live: bool = True  # false: a recording, which is read as fast as it is decoded
    account: str = ""  # whose stream it is: accounts share what a recognizer can do


class RecognizerStop(Shape, frozen=True, tag="stop"):
    """No more audio follows: the recognizer ends the utterance, and closes."""


class RecognizerReady(Shape, frozen=True, tag="ready"):
    """The start is accepted. Audio may be sent before."""

    recognizer: str


class SpeechStarted(Shape, frozen=True, tag="speech-started"):
    """Somebody began to speak at `at_ms`; a cough or noise may be it, too."""

    at_ms: int


class SpeechEnded(Shape, frozen=True, tag="speech-ended"):
    """The last speech was at `at_ms`; the final transcript follows."""

    at_ms: int


class InterimTranscript(Shape, frozen=True, tag="interim"):
    """What was understood so far; later ones of the utterance may differ."""

    text: str
    confidence: float
    start_ms: int
    end_ms: int


class FinalTranscript(Shape, frozen=True, tag="final"):
    """What was understood of an utterance; an empty text: nothing."""

    text: str
    confidence: float
    start_ms: int
    end_ms: int


class ListedRecognizer(Shape, frozen=True):
    """A recognizer that a process has; without languages it depends on its service."""

    name: str
    languages: tuple[str, ...]


class RecognizerList(Shape, frozen=True):
    """What `GET /recognizers` of a stream gateway returns; `error` is why there are none."""

    recognizers: tuple[ListedRecognizer, ...] = ()
    error: str = ""


RecognizerErrorCode = Literal[
    "invalid-start",  # the first message is none, or has an invalid field
    "unsupported-language",
    "invalid-hint",  # no word in it, or an unknown class
    "unknown-words",  # no pronunciation is known
    "invalid-message",  # neither audio nor a message, or too large
    "overloaded",  # no capacity: another process may have some
    "idle",  # no audio for long
    "failed",  # the recognizer itself, or the service behind it
]


class RecognizerError(Shape, frozen=True, tag="error"):
    """Why the recognizer closes."""

    code: RecognizerErrorCode
    message: str


ToRecognizer = RecognizerStart | RecognizerStop
FromRecognizer = (
    RecognizerReady
    | SpeechStarted
    | SpeechEnded
    | InterimTranscript
    | FinalTranscript
    | RecognizerError
)
