"""The recognizer of AssemblyAI: its streaming API, on a websocket a stream.

https://www.assemblyai.com/docs/streaming/message-sequence

Its detection of turns waits longer than the silence that ends an utterance, so `ForceEndpoint` ends
each turn; it may have no reply when no word was spoken. The times of a turn's words, in the audio
that was sent, say whose turn it is. The audio of a recording is sent no faster than it was spoken.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse
from msgspec import Struct, json

from speech.audio import SAMPLE_BYTES
from speech.cloud.connection import AudioChunks, ServiceConnection, connect
from speech.cloud.recordings import RecordingLimit
from speech.recognizer import OnInterim, RecognitionFailed, Transcript, hinted_words, model_language
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


_TURN_S = 2.0
_CHUNK_MS = 100
_TAIL_MS = 60  # ends each utterance: a message of less than 50 ms is rejected


class AssemblyAiSettings(Struct, frozen=True):
    url: str
    key: str
    model: str
    recordings: int  # at a time


class AssemblyAiRecognizer:
    """Streams go to AssemblyAI, with the operator's key."""

    name = "assemblyai"

    def __init__(self, settings: AssemblyAiSettings, http: ClientSession) -> None:
        self._settings = settings
        self._http = http
        self._limit = RecordingLimit(settings.recordings)

    @property
    def languages(self) -> frozenset[str]:
        is_english = self._settings.model.endswith("-english")
        return frozenset({"en"}) if is_english else frozenset()

    async def open(self, start: RecognizerStart, on_interim: OnInterim) -> "AssemblyAiRecognition":
        async with AsyncExitStack() as stack:
            if not start.live:
                self._limit.begin()
                stack.callback(self._limit.end)
            socket = await connect(
                self._http,
                self.name,
                self._settings.url,
                {"Authorization": self._settings.key},
                stream_query(start, self._settings.model),
            )
            return AssemblyAiRecognition(socket, start, on_interim, stack.pop_all())

    async def close(self) -> None:
        await self._http.close()


class _Utterance:
    """The turns of an utterance so far, and whether they are complete."""

    def __init__(self, start_ms: int) -> None:
        self.start_ms = start_ms  # of the audio that was sent
        self.turns: dict[int, Transcript] = {}
        self.done = asyncio.Event()

    def transcript(self) -> Transcript:
        spoken = [turn for _, turn in sorted(self.turns.items()) if turn.text]
        if not spoken:
            return Transcript()
        characters = sum(len(each.text) for each in spoken)
        weighted = sum(each.confidence * len(each.text) for each in spoken)
        return Transcript(" ".join(each.text for each in spoken), round(weighted / characters, 3))


class AssemblyAiRecognition:
    """One stream; `stack` is closed with it."""

    def __init__(
        self,
        socket: ClientWebSocketResponse,
        start: RecognizerStart,
        on_interim: OnInterim,
        stack: AsyncExitStack,
    ) -> None:
        self._start = start
        self._on_interim = on_interim
        self._stack = stack
        self._chunks = AudioChunks(start.rate, _CHUNK_MS)
        self._sent_bytes = 0
        self._due_s = 0.0  # when the audio of a recording so far was spoken
        self._utterances = deque([_Utterance(0)])  # the last one is present
        self._connection = ServiceConnection("assemblyai", socket, self._take, self._release)

    async def feed(self, audio: bytes) -> None:
        self._connection.check()
        await self._send(self._chunks.add(audio))

    async def finish(self) -> Coroutine[Any, Any, Transcript]:
        silence = bytes(self._start.rate * _TAIL_MS // 1000 * SAMPLE_BYTES)
        await self._send(self._chunks.take() + silence)
        ended = self._utterances[-1]
        self._utterances.append(_Utterance(round(self._seconds(self._sent_bytes) * 1000)))
        await self._connection.send('{"type":"ForceEndpoint"}')
        return self._transcript(ended)

    async def close(self) -> None:
        await self._connection.close('{"type":"Terminate"}')
        await self._stack.aclose()

    async def _send(self, audio: bytes) -> None:
        if not audio:
            return
        self._sent_bytes += len(audio)
        await self._connection.send(audio)
        if not self._start.live:
            now_s = asyncio.get_running_loop().time()
            self._due_s = max(self._due_s, now_s) + self._seconds(len(audio))
            await asyncio.sleep(self._due_s - now_s)

    def _seconds(self, audio_bytes: int) -> float:
        return audio_bytes / SAMPLE_BYTES / self._start.rate

    async def _transcript(self, ended: _Utterance) -> Transcript:
        await self._connection.wait(ended.done, _TURN_S)
        if ended in self._utterances:
            self._complete(ended)  # its time is over
        return ended.transcript()

    def _take(self, text: str) -> None:
        message = service_messages.decode(text)
        match message.type:
            case "Turn":
                if (utterance := self._utterance_of(message)) is not None:
                    self._add(utterance, message)
            case "Error":
                raise failure_of(message.error_code)
            case _:
                pass  # it began, heard a voice, or terminates

    def _utterance_of(self, turn: ServiceMessage) -> _Utterance | None:
        """Return whose turn it is, unless that is over; one without words is the oldest's."""
        if not turn.words:
            return self._utterances[0]
        earlier = [each for each in self._utterances if each.start_ms <= turn.middle_ms]
        return earlier[-1] if earlier else None

    def _add(self, utterance: _Utterance, turn: ServiceMessage) -> None:
        utterance.turns[turn.turn_order] = turn.heard()
        is_present = utterance is self._utterances[-1]
        if turn.is_last and not is_present:
            self._complete(utterance)
        elif self._start.interim and is_present:
            self._on_interim(utterance.transcript())

    def _complete(self, utterance: _Utterance) -> None:
        """End waiting for an utterance, and for earlier ones: turns are in their order."""
        while utterance in self._utterances:
            self._utterances.popleft().done.set()

    def _release(self) -> None:
        for each in self._utterances:
            each.done.set()
