"""The recognizer of Deepgram: its live API, as publicly documented, on a websocket a stream.

Utterances end as they do with other recognizers: the end is sent as `Finalize`, and the transcript
consists of the final results until the one that Deepgram marks with `from_finalize`.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any

import structlog
from aiohttp import (
    ClientError,
    ClientSession,
    ClientWebSocketResponse,
    ClientWSTimeout,
    WSMsgType,
    WSServerHandshakeError,
)
from msgspec import MsgspecError, Struct, convert, json

from engine.common.http_errors import failure_word
from speech.cloud.deepgram_recording import DeepgramRecording, DeepgramRecordings
from speech.recognizer import OnInterim, RecognitionFailed, Transcript
from wire.streams.recognizer import RecognizerStart, SpokenHint

_CONNECT_S = 5.0
_FINALIZE_S = 2.0  # Deepgram may not reply to it when nothing is left to transcribe
_KEEP_ALIVE_S = 4.0  # without audio it closes after 10 s
_MAX_HINTS = 100
_MAX_MESSAGE_BYTES = 1 << 20
log = structlog.get_logger()


class _Alternative(Struct, frozen=True):
    transcript: str = ""
    confidence: float = 0.0


class _Channel(Struct, frozen=True):
    alternatives: tuple[_Alternative, ...] = ()


class _Message(Struct, frozen=True):
    """A message of Deepgram; those of a type other than Results have no channel."""

    type: str = ""
    channel: Any = None  # of other types it is a list of numbers
    is_final: bool = False
    from_finalize: bool = False


_messages = json.Decoder(_Message)


class DeepgramSettings(Struct, frozen=True):
    url: str
    key: str
    model: str
    recordings: int  # at a time


class DeepgramRecognizer:
    """Streams go to Deepgram, with the operator's key."""

    name = "deepgram"
    languages: frozenset[str] = frozenset()  # depends on the model: Deepgram rejects others

    def __init__(self, settings: DeepgramSettings, http: ClientSession) -> None:
        self._settings = settings
        self._http = http
        self._recordings = DeepgramRecordings(settings.url, settings.key, settings.recordings, http)

    async def open(
        self, start: RecognizerStart, on_interim: OnInterim
    ) -> "DeepgramRecognition | DeepgramRecording":
        if not start.live:
            return self._recordings.open(start.rate, file_query(start, self._settings.model))
        try:
            async with asyncio.timeout(_CONNECT_S):
                socket = await self._http.ws_connect(
                    self._settings.url,
                    params=live_query(start, self._settings.model),
                    headers={"Authorization": f"Token {self._settings.key}"},
                    max_msg_size=_MAX_MESSAGE_BYTES,
                    timeout=ClientWSTimeout(ws_close=_FINALIZE_S),
                )
        except WSServerHandshakeError as error:
            raise RecognitionFailed("failed", f"deepgram: HTTP {error.status}") from None
        except (ClientError, OSError, TimeoutError) as error:
            raise RecognitionFailed("failed", f"deepgram: {failure_word(error)}") from None
        return DeepgramRecognition(socket, on_interim)

    async def close(self) -> None:
        await self._http.close()


def live_query(start: RecognizerStart, model: str) -> list[tuple[str, str]]:
    """Return the parameters of a stream."""
    return [
        *file_query(start, model),
        ("encoding", "linear16"),
        ("sample_rate", str(start.rate)),
        ("channels", "1"),
        ("interim_results", "true" if start.interim else "false"),
        ("endpointing", "false"),
    ]


def file_query(start: RecognizerStart, model: str) -> list[tuple[str, str]]:
    """Return the parameters that files have, too."""
    words = [each for each in map(_text_of, start.hints) if not each.startswith("$")]
    term = "keyterm" if model.startswith("nova-3") else "keywords"
    return [
        ("model", model),
        ("language", start.language),
        ("smart_format", "true"),
        *((term, each) for each in words[:_MAX_HINTS]),
    ]


def _text_of(hint: str | SpokenHint) -> str:
    return hint if isinstance(hint, str) else hint.text


class _Utterance:
    """The final results of an utterance so far, and whether it is complete."""

    def __init__(self) -> None:
        self.parts: list[_Alternative] = []
        self.done = asyncio.Event()

    def transcript(self, *further: _Alternative) -> Transcript:
        spoken = [each for each in (*self.parts, *further) if each.transcript]
        if not spoken:
            return Transcript()
        characters = sum(len(each.transcript) for each in spoken)
        weighted = sum(each.confidence * len(each.transcript) for each in spoken)
        text = " ".join(each.transcript for each in spoken)
        return Transcript(text, round(weighted / characters, 3))


class DeepgramRecognition:
    """One stream."""

    def __init__(self, socket: ClientWebSocketResponse, on_interim: OnInterim) -> None:
        self._socket = socket
        self._on_interim = on_interim
        self._utterances: deque[_Utterance] = deque([_Utterance()])  # the last one is present
        self._failure: RecognitionFailed | None = None
        self._tasks: Sequence[asyncio.Task[None]] = (
            asyncio.create_task(self._read()),
            asyncio.create_task(self._keep_alive()),
        )

    async def feed(self, audio: bytes) -> None:
        self._check()
        with suppress(OSError):  # the reader says why it is closed
            await self._socket.send_bytes(audio)

    async def finish(self) -> Coroutine[Any, Any, Transcript]:
        self._check()
        ended = self._utterances[-1]
        self._utterances.append(_Utterance())
        with suppress(OSError):
            await self._socket.send_str('{"type":"Finalize"}')
        return self._transcript(ended)

    async def close(self) -> None:
        with suppress(OSError):
            await self._socket.send_str('{"type":"CloseStream"}')
        for each in self._tasks:
            each.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._socket.close()

    async def _transcript(self, ended: _Utterance) -> Transcript:
        with suppress(TimeoutError):
            async with asyncio.timeout(_FINALIZE_S):
                await ended.done.wait()
        self._check()
        with suppress(ValueError):
            self._utterances.remove(ended)  # its time is over
        return ended.transcript()

    async def _read(self) -> None:
        async for message in self._socket:
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                self._take(_messages.decode(message.data))
            except MsgspecError:
                self._fail("deepgram: an unexpected message")
                return
        self._fail(f"deepgram: closed with code {self._socket.close_code}")

    def _take(self, message: _Message) -> None:
        if message.type != "Results":
            return
        channel = convert(message.channel, _Channel)
        best = channel.alternatives[0] if channel.alternatives else _Alternative()
        oldest = self._utterances[0]
        if not message.is_final:
            self._on_interim(oldest.transcript(best))
            return
        oldest.parts.append(best)
        if message.from_finalize and len(self._utterances) > 1:
            self._utterances.popleft().done.set()

    def _fail(self, text: str) -> None:
        log.warning("speech_service_failed", detail=text)
        self._failure = RecognitionFailed("failed", text)
        for each in self._utterances:
            each.done.set()

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(_KEEP_ALIVE_S)
            with suppress(OSError):
                await self._socket.send_str('{"type":"KeepAlive"}')
