"""Recordings at Deepgram: each utterance is one request to its API for files.

The live API takes audio no faster than it is spoken.
"""

import io
import wave
from collections.abc import Coroutine, Sequence
from http import HTTPStatus
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout
from msgspec import MsgspecError, Struct, json

from engine.common.http_errors import failure_word
from speech.recognizer import RecognitionFailed, Transcript
from wire.streams.recognizer import RecognizerErrorCode

_TIMEOUT = ClientTimeout(total=60, sock_connect=5)


class _Alternative(Struct, frozen=True):
    transcript: str = ""
    confidence: float = 0.0


class _Channel(Struct, frozen=True):
    alternatives: tuple[_Alternative, ...] = ()


class _Results(Struct, frozen=True):
    channels: tuple[_Channel, ...]


class _Response(Struct, frozen=True):
    results: _Results


_responses = json.Decoder(_Response)


class DeepgramRecordings:
    """The recordings that are sent to Deepgram at a time; `url` is that of the live API."""

    def __init__(self, url: str, key: str, limit: int, http: ClientSession) -> None:
        self._url = f"http{url.removeprefix('ws')}"
        self._headers = {"Authorization": f"Token {key}", "Content-Type": "audio/wav"}
        self._limit = limit
        self._http = http
        self._open = 0

    def open(self, rate: int, query: Sequence[tuple[str, str]]) -> "DeepgramRecording":
        """Begin a recording; raises RecognitionFailed if there are enough."""
        if self._open >= self._limit:
            raise RecognitionFailed(
                "overloaded", f"{self._limit} recordings are transcribed already"
            )
        self._open += 1
        return DeepgramRecording(self, rate, query)

    def close(self) -> None:
        """End a recording."""
        self._open -= 1

    async def transcribe(self, wav: bytes, query: Sequence[tuple[str, str]]) -> Transcript:
        """Return the transcript of a file; raises RecognitionFailed."""
        try:
            async with self._http.post(
                self._url, data=wav, params=query, headers=self._headers, timeout=_TIMEOUT
            ) as response:
                body = await response.read()
        except (ClientError, OSError, TimeoutError) as error:
            raise RecognitionFailed("failed", f"deepgram: {failure_word(error)}") from None
        if not response.ok:
            busy = response.status == HTTPStatus.TOO_MANY_REQUESTS
            code: RecognizerErrorCode = "overloaded" if busy else "failed"
            raise RecognitionFailed(code, f"deepgram: HTTP {response.status}")
        try:
            channels = _responses.decode(body).results.channels
        except MsgspecError:
            raise RecognitionFailed("failed", "deepgram: an unexpected response") from None
        if not (channels and channels[0].alternatives):
            return Transcript()
        best = channels[0].alternatives[0]
        return Transcript(best.transcript, best.confidence)


class DeepgramRecording:
    """One recording: the audio of an utterance is kept until its end."""

    def __init__(
        self, recordings: DeepgramRecordings, rate: int, query: Sequence[tuple[str, str]]
    ) -> None:
        self._recordings = recordings
        self._rate = rate
        self._query = query
        self._audio = bytearray()

    async def feed(self, audio: bytes) -> None:
        self._audio += audio

    async def finish(self) -> Coroutine[Any, Any, Transcript]:
        wav = _wav(bytes(self._audio), self._rate)
        self._audio.clear()
        return self._recordings.transcribe(wav, self._query)

    async def close(self) -> None:
        self._recordings.close()


def _wav(samples: bytes, rate: int) -> bytes:
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples)
    return written.getvalue()
