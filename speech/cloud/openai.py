"""The recognizer of OpenAI: a transcription session of its Realtime API for each stream.

https://developers.openai.com/api/docs/guides/realtime-transcription

Its detection of turns is off. The end of an utterance commits the audio: the service makes an item
of it, and its transcript names the item. Transcripts may arrive in another order than utterances.
"""

import asyncio
from base64 import b64encode
from collections import deque
from collections.abc import Coroutine
from math import exp
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, FormData
from msgspec import MsgspecError, Struct, json

from speech.audio import SAMPLE_BYTES, Resampler
from speech.cloud.connection import AudioChunks, ServiceConnection, connect
from speech.cloud.recordings import Recording, RecordingLimit, http_url, post_file
from speech.recognizer import (
    OnInterim,
    RecognitionFailed,
    Transcript,
    hinted_words,
    model_language,
    prompt_of,
)
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


_TRANSCRIPT_S = 5.0
_CHUNK_MS = 100
# Ends each utterance: less than 100 ms is rejected, and the resampler keeps its last samples back.
_TAIL_MS = 100
_TRANSCRIPTION = "conversation.item.input_audio_transcription."


class OpenAiSettings(Struct, frozen=True):
    url: str
    key: str
    model: str
    file_model: str
    recordings: int  # at a time


class OpenAiRecognizer:
    """Streams go to OpenAI, with the operator's key."""

    name = "openai"
    languages: frozenset[str] = frozenset()  # depends on the model: OpenAI rejects others

    def __init__(self, settings: OpenAiSettings, http: ClientSession) -> None:
        self._settings = settings
        self._http = http
        self._files = OpenAiFiles(settings.url, settings.key, settings.file_model, http)
        self._limit = RecordingLimit(settings.recordings)

    async def open(
        self, start: RecognizerStart, on_interim: OnInterim
    ) -> "OpenAiRecognition | Recording":
        if not start.live:
            return Recording(
                self._limit, start.rate, lambda wav: self._files.transcribe(wav, start)
            )
        headers = {"Authorization": f"Bearer {self._settings.key}"}
        query = [("intent", "transcription")]
        socket = await connect(self._http, self.name, self._settings.url, headers, query)
        recognition = OpenAiRecognition(socket, start, on_interim)
        await recognition.begin(self._settings.model)
        return recognition

    async def close(self) -> None:
        await self._http.close()


class _Utterance:
    """What is known of an utterance, and whether that is all."""

    def __init__(self) -> None:
        self.text = ""
        self.logprobs: tuple[LogProbability, ...] = ()
        self.done = asyncio.Event()

    def transcript(self) -> Transcript:
        return scored(self.text, self.logprobs)


class OpenAiRecognition:
    """One stream."""

    def __init__(
        self, socket: ClientWebSocketResponse, start: RecognizerStart, on_interim: OnInterim
    ) -> None:
        self._start = start
        self._on_interim = on_interim
        self._chunks = AudioChunks(start.rate, _CHUNK_MS)
        self._resampler = Resampler(start.rate, RATE)
        self._present = _Utterance()
        self._unnamed = deque([self._present])  # those that are no item yet
        self._items: dict[str, _Utterance] = {}  # by the service's name, until they are done
        self._connection = ServiceConnection("openai", socket, self._take, self._release)

    async def begin(self, model: str) -> None:
        """Say what the session is for."""
        await self._connection.send(session_update(self._start, model))

    async def feed(self, audio: bytes) -> None:
        self._connection.check()
        await self._send(self._chunks.add(audio))

    async def finish(self) -> Coroutine[Any, Any, Transcript]:
        silence = bytes(self._start.rate * _TAIL_MS // 1000 * SAMPLE_BYTES)
        await self._send(self._chunks.take() + silence)
        ended = self._present
        self._present = _Utterance()
        self._unnamed.append(self._present)
        await self._connection.send(COMMIT)
        return self._transcript(ended)

    async def close(self) -> None:
        await self._connection.close()

    async def _send(self, audio: bytes) -> None:
        if audio and (resampled := self._resampler.resample(audio)):
            await self._connection.send(append(resampled))

    async def _transcript(self, ended: _Utterance) -> Transcript:
        await self._connection.wait(ended.done, _TRANSCRIPT_S)
        if not ended.done.is_set() and not ended.text:  # each commit has a reply
            raise RecognitionFailed("failed", f"openai: no transcript in {_TRANSCRIPT_S:g} s")
        return ended.transcript()

    def _take(self, text: str) -> None:
        message = session_messages.decode(text)
        match message.type.removeprefix(_TRANSCRIPTION):
            case "input_audio_buffer.committed":
                self._utterance(message.item_id)
            case "delta":
                self._add(message.item_id, message.delta or "", message.logprobs or ())
            case "completed":
                ended = self._utterance(message.item_id)
                ended.text, ended.logprobs = message.transcript or "", message.logprobs or ()
                del self._items[message.item_id]
                ended.done.set()
            case "failed" | "error":
                raise failure_of(message.error)
            case _:
                pass  # the session and its items as they become

    def _add(self, item_id: str, text: str, logprobs: tuple[LogProbability, ...]) -> None:
        utterance = self._utterance(item_id)
        utterance.text += text
        utterance.logprobs += logprobs
        if self._start.interim and utterance is self._present:
            self._on_interim(utterance.transcript())

    def _utterance(self, item_id: str) -> _Utterance:
        """Return the utterance of an item; a new item is the oldest utterance without one."""
        if item_id not in self._items:
            if not self._unnamed:
                raise RecognitionFailed("failed", "openai: a transcript of no audio")
            self._items[item_id] = self._unnamed.popleft()
        return self._items[item_id]

    def _release(self) -> None:
        for each in (*self._unnamed, *self._items.values()):
            each.done.set()


class _Response(Struct, frozen=True):
    text: str
    logprobs: tuple[LogProbability, ...] | None = None


_responses = json.Decoder(_Response)


class OpenAiFiles:
    """Files that are sent to OpenAI; `url` is that of the Realtime API."""

    def __init__(self, url: str, key: str, model: str, http: ClientSession) -> None:
        self._url = f"{http_url(url).removesuffix('/realtime')}/audio/transcriptions"
        self._headers = {"Authorization": f"Bearer {key}"}
        self._model = model
        self._http = http

    async def transcribe(self, wav: bytes, start: RecognizerStart) -> Transcript:
        """Return the transcript of a file; raises RecognitionFailed."""
        form = _form(wav, start, self._model)
        body = await post_file(self._http, "openai", self._url, data=form, headers=self._headers)
        try:
            response = _responses.decode(body)
        except MsgspecError:
            raise RecognitionFailed("failed", "openai: an unexpected response") from None
        return scored(response.text, response.logprobs or ())


def _form(wav: bytes, start: RecognizerStart, model: str) -> FormData:
    form = FormData()
    form.add_field("file", wav, filename="recording.wav", content_type="audio/wav")
    form.add_field("response_format", "json")
    for name, value in transcription_options(start, model).items():
        for each in value if isinstance(value, list) else ():
            form.add_field(f"{name}[]", each)
        if isinstance(value, str):
            form.add_field(name, value)
    if has_logprobs(model):
        form.add_field("include[]", "logprobs")
    return form
