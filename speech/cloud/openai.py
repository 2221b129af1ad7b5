"""The recognizer of OpenAI: a transcription session of its Realtime API for each stream.

https://developers.openai.com/api/docs/guides/realtime-transcription

Its detection of turns is off. The end of an utterance commits the audio: the service makes an item
of it, and its transcript names the item. Transcripts may arrive in another order than utterances.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse
from msgspec import Struct

from speech.audio.frames import SAMPLE_BYTES
from speech.audio.resampler import Resampler
from speech.cloud.chunks import AudioChunks
from speech.cloud.connection import ServiceConnection, connect
from speech.cloud.openai_files import OpenAiFiles
from speech.cloud.openai_messages import (
    COMMIT,
    RATE,
    LogProbability,
    append,
    failure_of,
    scored,
    session_messages,
    session_update,
)
from speech.cloud.recordings import Recording, RecordingLimit
from speech.recognizer import OnInterim, RecognitionFailed, Transcript
from wire.streams.recognizer import RecognizerStart

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
