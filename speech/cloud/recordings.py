"""Recordings at a service: a limited number at a time, each utterance one request for a file."""

import io
import wave
from collections.abc import Callable, Coroutine
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout

from speech.cloud.connection import rejected, unanswered
from speech.recognizer import RecognitionFailed, Transcript

Transcribe = Callable[[bytes], Coroutine[Any, Any, Transcript]]
_TIMEOUT = ClientTimeout(total=60, sock_connect=5)


class RecordingLimit:
    """How many recordings a service gets at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open = 0

    def begin(self) -> None:
        """Begin a recording; raises RecognitionFailed if there are enough."""
        if self._open >= self._most:
            raise RecognitionFailed(
                "overloaded", f"{self._most} recordings are transcribed already"
            )
        self._open += 1

    def end(self) -> None:
        """End a recording."""
        self._open -= 1


class Recording:
    """One recording: the audio of an utterance is kept until its end, then it is a WAV file."""

    def __init__(self, limit: RecordingLimit, rate: int, transcribe: Transcribe) -> None:
        limit.begin()
        self._limit = limit
        self._rate = rate
        self._transcribe = transcribe
        self._audio = bytearray()

    async def feed(self, audio: bytes) -> None:
        self._audio += audio

    async def finish(self) -> Coroutine[Any, Any, Transcript]:
        wav = _wav(bytes(self._audio), self._rate)
        self._audio.clear()
        return self._transcribe(wav)

    async def close(self) -> None:
        self._limit.end()


async def post_file(http: ClientSession, service: str, url: str, **request: Any) -> bytes:
    """Return the response of a service to a file; raises RecognitionFailed.

    `request` is what aiohttp's `post` takes: data, params and headers.
    """
    try:
        async with http.post(url, timeout=_TIMEOUT, **request) as response:
            body = await response.read()
    except (ClientError, OSError, TimeoutError) as error:
        raise unanswered(service, error) from None
    if not response.ok:
        raise rejected(service, response.status)
    return body


def http_url(url: str) -> str:
    """Return the http address of a websocket's."""
    return f"http{url.removeprefix('ws')}"


def _wav(samples: bytes, rate: int) -> bytes:
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples)
    return written.getvalue()
