"""The interface of recognizers, and their failures."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from msgspec import Struct

from wire.streams.recognizer import RecognizerErrorCode, RecognizerStart, SpokenHint


class RecognitionFailed(Exception):
    """A stream cannot be recognized, or no further; the gateway gets code and text."""

    def __init__(self, code: RecognizerErrorCode, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class Transcript(Struct, frozen=True):
    """What was understood of an utterance; confidence is between 0 and 1."""

    text: str = ""
    confidence: float = 0.0


OnInterim = Callable[[Transcript], None]


class Recognition(Protocol):
    """The recognition of one stream, utterance by utterance; every method may fail."""

    async def feed(self, audio: bytes) -> None:
        """Take audio of the present utterance; waits while too much is waiting already."""

    async def finish(self) -> Coroutine[Any, Any, Transcript]:
        """End the utterance, and return what waits for its transcript.

        What is fed after this, also before the transcript, is the next utterance's.
        """

    async def close(self) -> None:
        """Release what the stream occupies; never fails."""


class Recognizer(Protocol):
    @property
    def name(self) -> str:
        """Its name in the address."""

    @property
    def languages(self) -> frozenset[str]:
        """Primary language subtags in lower case (`en`); none: any language."""

    async def open(self, start: RecognizerStart, on_interim: OnInterim) -> Recognition:
        """Begin a stream; raises RecognitionFailed."""

    async def close(self) -> None:
        """End its processes and connections."""


def check_language(recognizer: Recognizer, language: str) -> None:
    """Raise RecognitionFailed if a recognizer does not understand a language."""
    known = recognizer.languages
    if known and language.partition("-")[0].lower() not in known:
        raise RecognitionFailed(
            "unsupported-language",
            f"language: {recognizer.name} understands {', '.join(sorted(known))}, not {language}",
        )


_MAX_PROMPT_LENGTH = 500  # a model's context is short
# Tags of languages whose models know them by another ISO 639-1 code: Bokmål is Norwegian.
_MODEL_LANGUAGES = {"nb": "no"}


def hinted_words(hints: Sequence[str | SpokenHint]) -> list[str]:
    """Return the words and phrases; classes of grammars are left out."""
    texts = (hint if isinstance(hint, str) else hint.text for hint in hints)
    return [text for text in texts if not text.startswith("$")]


def prompt_of(hints: Sequence[str | SpokenHint]) -> str:
    """Return the words and phrases as one text, as far as they fit."""
    prompt = ""
    for text in hinted_words(hints):
        longer = f"{prompt}, {text}" if prompt else text
        if len(longer) > _MAX_PROMPT_LENGTH:
            break
        prompt = longer
    return prompt


def model_language(language: str) -> str:
    """Return the ISO 639-1 code by which models know a language tag such as `nb-NO`."""
    primary = language.partition("-")[0].lower()
    return _MODEL_LANGUAGES.get(primary, primary)
