"""Media to play to a leg: audio at an address, speech or a tone."""

from collections.abc import Mapping

from msgspec import Struct

# The elements of SSML that shape speech, with their attributes; others are not spoken as such.
SSML_ELEMENTS: Mapping[str, frozenset[str]] = {
    "speak": frozenset(),
    "p": frozenset(),
    "s": frozenset(),
    "break": frozenset({"time", "strength"}),
    "emphasis": frozenset({"level"}),
    "prosody": frozenset({"pitch", "range", "rate", "volume"}),
    "say-as": frozenset({"interpret-as", "format", "detail"}),
    "sub": frozenset({"alias"}),
}


class Audio(Struct, frozen=True, tag="audio"):
    """Audio at an http(s) address, in any common format."""

    url: str


class Speech(Struct, frozen=True, tag="speech"):
    """A text to speak, marked up or plain; language is a BCP 47 tag, voice None the default one."""

    text: str
    voice: str | None = None
    language: str = "en"
    ssml: bool = False


class Tone(Struct, frozen=True, tag="tone"):
    """A beep."""

    hz: int
    duration_ms: int


Source = Audio | Speech | Tone


class MediaFault(Struct, frozen=True):
    """Audio that could not be played: its URL or the beginning of its text, and a reason code."""

    source: str
    reason: str


class Clip(Struct, frozen=True, array_like=True):
    """Audio ready to play: its key (a hash of the content) and its exact length."""

    key: str
    duration_ms: int


MAX_SOURCE_CHARS = 200


def describe_source(source: Source) -> str:
    """Return a source's name in events: its URL, the beginning of its text, or `tone`."""
    match source:
        case Audio(url=url):
            return url[:MAX_SOURCE_CHARS]
        case Speech(text=text):
            return text[:MAX_SOURCE_CHARS]
        case Tone():
            return "tone"
