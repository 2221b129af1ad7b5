"""What OpenAI's transcription sessions are sent, and what they reply.

https://developers.openai.com/api/reference/resources/realtime/client-events
"""

from base64 import b64encode
from math import exp
from typing import Any

from msgspec import Struct, json

from speech.hints import hinted_words, model_language, prompt_of
from speech.recognizer import RecognitionFailed, Transcript
from wire.streams.recognizer import RecognizerErrorCode, RecognizerStart

RATE = 24_000  # the only one of its PCM
COMMIT = '{"type":"input_audio_buffer.commit"}'
_KEYWORD_MODELS = ("gpt-live-transcribe", "gpt-transcribe")
_LOGPROB_MODELS = ("gpt-4o-transcribe", "gpt-4o-mini-transcribe")
_DIARIZE = "gpt-4o-transcribe-diarize"
_MODELS_WITHOUT_PROMPT = ("gpt-realtime-whisper", _DIARIZE)
_MAX_KEYWORDS = 100
_UNKNOWN_CONFIDENCE = 0.8  # of models without probabilities: usual thresholds let it pass


class LogProbability(Struct, frozen=True):
    """How likely a token is."""

    logprob: float


class ServiceError(Struct, frozen=True):
    type: str = ""
    code: str | None = None
    param: str | None = None


class SessionMessage(Struct, frozen=True):
    """A message of a session; which fields it has depends on its type."""

    type: str = ""
    item_id: str = ""
    delta: str | None = None
    transcript: str | None = None
    logprobs: tuple[LogProbability, ...] | None = None
    error: ServiceError | None = None


session_messages = json.Decoder(SessionMessage)


def session_update(start: RecognizerStart, model: str) -> str:
    """Return the message that begins a session, whose utterances the client ends."""
    audio = {
        "format": {"type": "audio/pcm", "rate": RATE},
        "transcription": transcription_options(start, model),
        "turn_detection": None,
    }
    session: dict[str, Any] = {"type": "transcription", "audio": {"input": audio}}
    if has_logprobs(model):
        session["include"] = ["item.input_audio_transcription.logprobs"]
    return json.encode({"type": "session.update", "session": session}).decode()


def append(audio: bytes) -> str:
    """Return the message with audio."""
    return f'{{"type":"input_audio_buffer.append","audio":"{b64encode(audio).decode()}"}}'


def transcription_options(start: RecognizerStart, model: str) -> dict[str, Any]:
    """Return the options of a model, also for files: each family has its own hints."""
    language = model_language(start.language)
    if model.startswith(_KEYWORD_MODELS):
        keywords = hinted_words(start.hints)[:_MAX_KEYWORDS]
        return _given({"model": model, "languages": [language], "keywords": keywords})
    prompt = "" if model.startswith(_MODELS_WITHOUT_PROMPT) else prompt_of(start.hints)
    return _given({"model": model, "language": language, "prompt": prompt})


def has_logprobs(model: str) -> bool:
    """Return whether a model may be asked how likely each token is."""
    return model.startswith(_LOGPROB_MODELS) and not model.startswith(_DIARIZE)


def scored(text: str, logprobs: tuple[LogProbability, ...]) -> Transcript:
    """Return a transcript; its confidence is the geometric mean of its tokens' probabilities."""
    text = text.strip()
    if not text:
        return Transcript()
    if not logprobs:
        return Transcript(text, _UNKNOWN_CONFIDENCE)
    mean = sum(each.logprob for each in logprobs) / len(logprobs)
    return Transcript(text, round(min(1.0, exp(mean)), 3))


def failure_of(error: ServiceError | None) -> RecognitionFailed:
    """Return the failure that an error means; its message is left out: it may quote the key."""
    error = error or ServiceError()
    what = error.code or error.type or "an error without a code"
    where = f" ({error.param})" if error.param else ""
    is_busy = what.startswith("rate_limit")
    code: RecognizerErrorCode = "overloaded" if is_busy else "failed"
    return RecognitionFailed(code, f"openai: {what}{where}")


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value}
