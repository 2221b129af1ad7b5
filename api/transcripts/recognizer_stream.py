"""One channel of a recording at a recognizer, in the protocol of docs/streams/recognizers.md."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
from aiohttp import ClientWebSocketResponse, WSMessage, WSMsgType
from msgspec import Struct

from api.transcripts.outcomes import (
    AttemptFailed,
    Postponed,
    TranscriptionError,
    Untranscribable,
)
from wire.decoding.messages import decode_message
from wire.streams.recognizer import (
    FinalTranscript,
    FromRecognizer,
    RecognizerError,
    RecognizerReady,
    RecognizerStart,
    RecognizerStop,
)

BUSY_DELAY_MS = 15_000
MAX_TEXT_CHARS = 2_000_000  # of a channel: more than anybody says in a day
CLOSED_NORMALLY = 1000


class StreamTimeouts(Struct, frozen=True):
    """How long a recognizer may take."""

    ready_s: float = 60.0  # its process may have to load a model
    stall_s: float = 180.0  # without reading audio, or without a message after the last audio


class RecognizerStream:
    def __init__(
        self, socket: ClientWebSocketResponse, timeouts: StreamTimeouts | None = None
    ) -> None:
        self._socket = socket
        self._timeouts = timeouts or StreamTimeouts()
        self._finals: list[FinalTranscript] = []
        self._chars = 0
        self._messages = 0
        self._is_stopped = False

    async def start(self, start: RecognizerStart) -> None:
        """Wait until the recognizer takes the recording; raises TranscriptionError."""
        await self._send_text(start)
        try:
            async with asyncio.timeout(self._timeouts.ready_s):
                while not isinstance(await self._receive(), RecognizerReady):
                    pass
        except TimeoutError:
            raise _failed("it did not begin in time") from None

    async def send(self, audio: AsyncIterator[bytes]) -> tuple[FinalTranscript, ...]:
        """Send audio as fast as it is read; return the transcripts of its utterances."""
        reading = asyncio.create_task(self._read())
        sending = asyncio.create_task(self._send_all(audio))
        try:
            await asyncio.wait((reading, sending), return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                sending.result()  # raises: the audio cannot be read, or is not taken
                await self._wait_for_end(reading)
            reading.result()
        finally:
            for task in (reading, sending):
                task.cancel()
            await asyncio.gather(reading, sending, return_exceptions=True)
        return tuple(self._finals)

    async def _send_all(self, audio: AsyncIterator[bytes]) -> None:
        async for message in audio:
            try:
                async with asyncio.timeout(self._timeouts.stall_s):
                    await self._socket.send_bytes(message)
            except TimeoutError:
                raise _failed("it does not read") from None
            except OSError:
                return  # it has closed: what it said is being read
        self._is_stopped = True
        await self._send_text(RecognizerStop())

    async def _wait_for_end(self, reading: asyncio.Task[None]) -> None:
        """Wait for what is understood of the last audio, as long as there is more of it."""
        before = -1
        while not reading.done():
            if before == self._messages:
                raise _failed("it does not end")
            before = self._messages
            await asyncio.wait((reading,), timeout=self._timeouts.stall_s)

    async def _send_text(self, message: RecognizerStart | RecognizerStop) -> None:
        try:
            await self._socket.send_str(msgspec.json.encode(message).decode())
        except OSError:
            return  # likewise

    async def _read(self) -> None:
        """Collect transcripts until the recognizer closes."""
        while True:
            message = await self._socket.receive()
            if message.type is not WSMsgType.TEXT:
                if self._is_stopped and self._socket.close_code == CLOSED_NORMALLY:
                    return
                raise _failed(f"it closed with code {self._socket.close_code}")
            self._take(message)

    async def _receive(self) -> FromRecognizer:
        message = await self._socket.receive()
        if message.type is not WSMsgType.TEXT:
            raise _failed(f"it closed with code {self._socket.close_code}")
        return self._take(message)

    def _take(self, received: WSMessage) -> FromRecognizer:
        try:
            message: FromRecognizer = decode_message(received.data, FromRecognizer)
        except msgspec.DecodeError:
            raise _failed("it sends something else than the protocol's messages") from None
        self._messages += 1
        match message:
            case RecognizerError():
                raise _rejection(message)
            case FinalTranscript(text=text) if text:
                self._chars += len(text)
                if self._chars > MAX_TEXT_CHARS:
                    raise _failed("it sends more text than anybody can say")
                self._finals.append(message)
            case _:
                pass
        return message


def _rejection(error: RecognizerError) -> TranscriptionError:
    match error.code:
        case "overloaded":
            return Postponed("no_capacity", error.message, BUSY_DELAY_MS)
        case "failed" | "idle":
            return _failed(error.message)
        case _:
            return Untranscribable("rejected", error.message)


def _failed(detail: str) -> AttemptFailed:
    return AttemptFailed("recognizer_failed", f"the recognizer failed: {detail}")
