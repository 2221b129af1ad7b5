"""What AssemblyAI's streaming API is asked for, and the turns that it returns.

https://www.assemblyai.com/docs/api-reference/streaming-api/universal-streaming
"""

from msgspec import Struct, json

from speech.hints import hinted_words, model_language
from speech.recognizer import RecognitionFailed, Transcript
from wire.streams.recognizer import RecognizerErrorCode, RecognizerStart

_PRO_MODELS = ("universal-3", "u3-")  # their language is chosen, and their turns are formatted
_MAX_TERMS = 100
_MAX_TERM_LENGTH = 50
_MARGIN_MS = 1000  # by which its own detection is behind ours
_TOO_MANY_SESSIONS = 3009


class Word(Struct, frozen=True):
    """A word; its times are milliseconds of the audio that was sent."""

    text: str
    start: int
    end: int
    confidence: float


class ServiceMessage(Struct, frozen=True):
    """A message of the service; those of a type other than Turn have no words."""

    type: str = ""
    turn_order: int = 0
    end_of_turn: bool = False
    turn_is_formatted: bool = False
    transcript: str = ""
    words: tuple[Word, ...] = ()
    error_code: int | None = None

    @property
    def is_last(self) -> bool:
        """Whether no further message of its turn follows: the formatted one is the last."""
        return self.end_of_turn and (self.turn_is_formatted or not self.words)

    @property
    def middle_ms(self) -> int:
        """The middle of its words, which is less disputed than their first and last moment."""
        return (self.words[0].start + self.words[-1].end) // 2

    def heard(self) -> Transcript:
        """Return what the turn is so far, also words that may still change."""
        text = self.transcript
        if not self.end_of_turn and self.words:
            text = " ".join(each.text for each in self.words)
        return Transcript(text, _confidence(self.words)) if text else Transcript()


service_messages = json.Decoder(ServiceMessage)


def stream_query(start: RecognizerStart, model: str) -> list[tuple[str, str]]:
    """Return the parameters of a stream, whose turns the client ends."""
    silence_ms = str(start.silence_ms + _MARGIN_MS)
    return [
        ("speech_model", model),
        ("encoding", "pcm_s16le"),
        ("sample_rate", str(start.rate)),
        ("min_turn_silence", silence_ms),
        ("max_turn_silence", silence_ms),
        *_model_query(start, model),
        *_terms_query(start),
    ]


def failure_of(error_code: int | None) -> RecognitionFailed:
    """Return the failure that an error of the service means."""
    code: RecognizerErrorCode = "overloaded" if error_code == _TOO_MANY_SESSIONS else "failed"
    return RecognitionFailed(code, f"assemblyai: error {error_code}")


def _model_query(start: RecognizerStart, model: str) -> list[tuple[str, str]]:
    if model.startswith(_PRO_MODELS):
        return [("language_codes", _text([model_language(start.language)]))]
    return [("format_turns", "true"), ("end_of_turn_confidence_threshold", "1.0")]


def _terms_query(start: RecognizerStart) -> list[tuple[str, str]]:
    terms = [each for each in hinted_words(start.hints) if len(each) <= _MAX_TERM_LENGTH]
    return [("keyterms_prompt", _text(terms[:_MAX_TERMS]))] if terms else []


def _text(values: list[str]) -> str:
    return json.encode(values).decode()


def _confidence(words: tuple[Word, ...]) -> float:
    characters = sum(len(each.text) for each in words)
    weighted = sum(each.confidence * len(each.text) for each in words)
    return round(weighted / characters, 3) if characters else 0.0
