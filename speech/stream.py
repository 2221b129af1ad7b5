"""One websocket of a gateway: its messages, limits and end."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from typing import Any

import structlog
from aiohttp import WSCloseCode, WSMsgType, web
from msgspec import DecodeError, Struct, ValidationError, json

from speech.audio import FRAME_MS, FrameCutter, level_db
from speech.endpointing import Endpointer, UtteranceEnded, UtteranceStarted
from speech.recognizer import Recognition, RecognitionFailed, Recognizer, Transcript, check_language
from wire.streams.recognizer import (
    FinalTranscript,
    FromRecognizer,
    InterimTranscript,
    RecognizerError,
    RecognizerErrorCode,
    RecognizerReady,
    RecognizerStart,
    RecognizerStop,
    SpeechEnded,
    SpeechStarted,
)

_LEAD_MS = 240  # of audio before the level rises: consonants are quiet
_MAX_LEAD_FRAMES = 60 // FRAME_MS + _LEAD_MS // FRAME_MS
Send = Callable[[FromRecognizer], None]


class Utterances:
    """The utterances of a stream: only their audio reaches the recognizer."""

    def __init__(self, start: RecognizerStart, send: Send) -> None:
        self._send = send
        self._cutter = FrameCutter(start.rate)
        self._endpointer = Endpointer(start.silence_ms, start.max_ms)
        self._lead: deque[bytes] = deque(maxlen=_MAX_LEAD_FRAMES)
        self._results: deque[asyncio.Task[None]] = deque()
        self._is_live = start.live

    def on_interim(self, transcript: Transcript) -> None:
        """Send what was understood so far."""
        start_ms = self._endpointer.start_ms
        if start_ms is not None:  # else its final transcript is due
            self._send(
                InterimTranscript(
                    transcript.text, transcript.confidence, start_ms, self._endpointer.now_ms
                )
            )

    async def hear(self, audio: bytes, recognition: Recognition) -> None:
        """Take a message of audio; raises RecognitionFailed, also of an earlier result."""
        for frame in self._cutter.cut(audio):
            match self._endpointer.hear(level_db(frame)):
                case UtteranceStarted(at_ms):
                    self._send(SpeechStarted(at_ms))
                    await self._feed_lead(recognition)
                    await recognition.feed(frame)
                case UtteranceEnded() as ended:
                    await recognition.feed(frame)
                    await self._finish(ended, recognition)
                case None if self._endpointer.start_ms is not None:
                    await recognition.feed(frame)
                case None:
                    self._lead.append(frame)
        self._check_results()

    async def end(self, recognition: Recognition) -> None:
        """End the present utterance, and wait for all results; raises RecognitionFailed."""
        if (ended := self._endpointer.end()) is not None:
            await self._finish(ended, recognition)
        while self._results:
            await self._results.popleft()

    async def close(self) -> None:
        """Wait for nothing any more."""
        for each in self._results:
            each.cancel()
        await asyncio.gather(*self._results, return_exceptions=True)

    async def _feed_lead(self, recognition: Recognition) -> None:
        for frame in self._lead:
            await recognition.feed(frame)
        self._lead.clear()

    async def _finish(self, ended: UtteranceEnded, recognition: Recognition) -> None:
        self._send(SpeechEnded(ended.end_ms))
        result = self._deliver(ended, await recognition.finish())
        self._results.append(asyncio.create_task(result))
        if not self._is_live:
            await self._results.popleft()

    async def _deliver(
        self, ended: UtteranceEnded, result: Coroutine[Any, Any, Transcript]
    ) -> None:
        transcript = await result
        self._send(
            FinalTranscript(transcript.text, transcript.confidence, ended.start_ms, ended.end_ms)
        )

    def _check_results(self) -> None:
        """Raise the failure of a result, if any; forget those that were sent."""
        while self._results and self._results[0].done():
            self._results.popleft().result()


MAX_MESSAGE_BYTES = 256 * 1024  # 1,000 hints
_MAX_AUDIO_BYTES = 48_000  # a second at 24 kHz
_MAX_WAITING = 256  # messages that a gateway does not read
_MAX_CLOSE_S = 2.0
_CLOSE_CODES: dict[RecognizerErrorCode, int] = {
    "overloaded": WSCloseCode.TRY_AGAIN_LATER,
    "failed": WSCloseCode.INTERNAL_ERROR,
}
log = structlog.get_logger()
messages: json.Decoder[RecognizerStart | RecognizerStop] = json.Decoder(
    RecognizerStart | RecognizerStop
)


class StreamLimits(Struct, frozen=True):
    """How long a stream may be silent, and how far ahead of time its audio may be."""

    start_s: float = 5.0  # until its first message
    idle_s: float = 60.0  # without a message
    ahead_s: float = 5.0  # live audio that arrives faster is read no sooner than it is due


class Stream:
    """A gateway's connection, from its start to its stop."""

    def __init__(
        self, socket: web.WebSocketResponse, recognizer: Recognizer, limits: StreamLimits
    ) -> None:
        self._socket = socket
        self._recognizer = recognizer
        self._limits = limits
        self._outgoing: asyncio.Queue[FromRecognizer] = asyncio.Queue(_MAX_WAITING)
        self._is_slow = False

    async def run(self) -> None:
        """Recognize until the gateway stops, leaves or makes a mistake."""
        writer = asyncio.create_task(self._write())
        close_code: int = WSCloseCode.OK
        try:
            await self._recognize()
        except RecognitionFailed as error:
            log.info("speech_stream_failed", code=error.code, detail=error.text)
            self.send(RecognizerError(error.code, error.text))
            close_code = _CLOSE_CODES.get(error.code, WSCloseCode.POLICY_VIOLATION)
        finally:
            await self._end(writer, close_code)

    def send(self, message: FromRecognizer) -> None:
        """Send a message in turn; a gateway that does not read loses its stream."""
        try:
            self._outgoing.put_nowait(message)
        except asyncio.QueueFull:
            self._is_slow = True

    async def _recognize(self) -> None:
        start = await self._start()
        utterances = Utterances(start, self.send)
        recognition = await self._recognizer.open(start, utterances.on_interim)
        try:
            self.send(RecognizerReady(self._recognizer.name))
            await self._hear(start, utterances, recognition)
            await utterances.end(recognition)
        finally:
            await utterances.close()
            await recognition.close()

    async def _start(self) -> RecognizerStart:
        try:
            async with asyncio.timeout(self._limits.start_s):
                first = await self._socket.receive()
        except TimeoutError:
            raise RecognitionFailed("invalid-start", "the first message did not arrive") from None
        if first.type is not WSMsgType.TEXT:
            raise RecognitionFailed("invalid-start", "the first message must be `start`, as text")
        start = _decode(first.data, "invalid-start")
        if not isinstance(start, RecognizerStart):
            raise RecognitionFailed("invalid-start", "the first message must be `start`")
        check_language(self._recognizer, start.language)
        return start

    async def _hear(
        self, start: RecognizerStart, utterances: Utterances, recognition: Recognition
    ) -> None:
        clock = asyncio.get_running_loop().time
        due_s = clock() - self._limits.ahead_s  # of what was read so far
        async for audio in self._audio():
            await utterances.hear(audio, recognition)
            if self._is_slow:
                raise RecognitionFailed("failed", "the gateway does not read")
            if not start.live:
                await asyncio.sleep(0)  # minutes of it may have arrived: others have their turn
                continue
            due_s = max(due_s, clock() - self._limits.ahead_s) + len(audio) / 2 / start.rate
            if (early_s := due_s - clock()) > 0:
                await asyncio.sleep(early_s)

    async def _audio(self) -> AsyncIterator[bytes]:
        """Yield audio until the gateway stops; raises RecognitionFailed."""
        while True:
            try:
                async with asyncio.timeout(self._limits.idle_s):
                    message = await self._socket.receive()
            except TimeoutError:
                raise RecognitionFailed("idle", f"no audio for {self._limits.idle_s:g} s") from None
            match message.type:
                case WSMsgType.BINARY:
                    yield _checked(message.data)
                case WSMsgType.TEXT:
                    if not isinstance(_decode(message.data, "invalid-message"), RecognizerStop):
                        raise RecognitionFailed("invalid-message", "a second `start`")
                    return
                case _:
                    return  # it has closed, or its message was too large

    async def _write(self) -> None:
        while True:
            message = await self._outgoing.get()
            with suppress(ConnectionError):  # the gateway has gone, and needs nothing more
                await self._socket.send_str(json.encode(message).decode())
            self._outgoing.task_done()

    async def _end(self, writer: asyncio.Task[None], close_code: int) -> None:
        """Send what waits, and close; a gateway that does not read is cut off."""
        try:
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(_MAX_CLOSE_S):
                    await self._outgoing.join()
                    await self._socket.close(code=close_code)
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)


def _decode(text: str, code: RecognizerErrorCode) -> RecognizerStart | RecognizerStop:
    try:
        return messages.decode(text)
    except ValidationError as error:
        raise RecognitionFailed(code, str(error)) from None
    except DecodeError as error:
        raise RecognitionFailed(code, f"no JSON: {error}") from None


def _checked(audio: bytes) -> bytes:
    if len(audio) % 2:
        raise RecognitionFailed("invalid-message", "audio has two bytes a sample")
    if len(audio) > _MAX_AUDIO_BYTES:
        raise RecognitionFailed(
            "invalid-message", f"a message of audio has at most {_MAX_AUDIO_BYTES} bytes"
        )
    return audio
