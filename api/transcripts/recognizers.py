"""The recognizers of recordings: which of several processes takes one, and what it understands."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

import aiohttp
import msgspec
import structlog
from aiohttp import (
    ClientWebSocketResponse,
    ClientWSTimeout,
    WSMessage,
    WSMsgType,
    WSServerHandshakeError,
)
from msgspec import Struct

from api.engine_client import verifier
from api.transcripts.outcomes import (
    AttemptFailed,
    Postponed,
    TranscriptionError,
    Untranscribable,
)
from wire.decoding.messages import decode_message
from wire.streams import recognizer

BUSY_DELAY_MS = 15_000
CONNECT_S = 5.0
CLOSE_S = 5.0
MAX_MESSAGE_BYTES = 1 << 20
Audio = Callable[[], AsyncIterator[bytes]]
log = structlog.get_logger()
MAX_TEXT_CHARS = 2_000_000  # of a channel: more than anybody says in a day
CLOSED_NORMALLY = 1000


class StreamTimeouts(Struct, frozen=True):
    """How long a recognizer may take."""

    ready_s: float = 60.0  # its process may have to load a model
    stall_s: float = 180.0  # without reading audio, or without a message after the last audio


class Recognizers:
    """Processes at several addresses, which begin with `ws`; each is asked first in turn."""

    def __init__(
        self,
        http: aiohttp.ClientSession,
        urls: Sequence[str],
        token: str,
        timeouts: StreamTimeouts | None = None,
    ) -> None:
        self._http = http
        self._urls = [url.rstrip("/") for url in urls]
        self._headers = {"Authorization": f"Bearer {token}"}
        self._timeouts = timeouts
        self._next = 0

    async def recognize(
        self, name: str, start: recognizer.RecognizerStart, audio: Audio
    ) -> tuple[recognizer.FinalTranscript, ...]:
        """Return what is understood of audio; raises TranscriptionError."""
        refusals: list[TranscriptionError] = []
        for url in self._rotated():
            try:
                socket = await self._connect(url, name)
            except TranscriptionError as refusal:
                refusals.append(refusal)
                continue
            async with socket:
                stream = RecognizerStream(socket, self._timeouts)
                try:
                    await stream.start(start)
                except Postponed as refusal:
                    refusals.append(refusal)
                    continue
                return await stream.send(audio())
        # Where one may have time later, the others do not count.
        raise next((each for each in refusals if isinstance(each, Postponed)), refusals[0])

    async def _connect(self, url: str, name: str) -> ClientWebSocketResponse:
        try:
            async with asyncio.timeout(CONNECT_S):
                return await self._http.ws_connect(
                    f"{url}/recognizers/{name}",
                    headers=self._headers,
                    max_msg_size=MAX_MESSAGE_BYTES,
                    timeout=ClientWSTimeout(ws_close=CLOSE_S),
                )
        except WSServerHandshakeError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                raise Untranscribable("unknown_recognizer", f"no recognizer {name}") from None
            log.warning("recognizer rejects this process", url=url, status=error.status)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            log.warning("recognizer cannot be reached", url=url, error=type(error).__name__)
        raise Postponed("no_capacity", "no recognizer answers", BUSY_DELAY_MS)

    def _rotated(self) -> Iterator[str]:
        self._next += 1
        begin = self._next % len(self._urls)
        return iter(self._urls[begin:] + self._urls[:begin])


@asynccontextmanager
async def open_recognizers(
    urls: Sequence[str], token: str, ca: Path | None
) -> AsyncIterator[Recognizers]:
    """Yield a client for as long as the context lasts; `ca` verifies wss addresses."""
    connector = aiohttp.TCPConnector(limit=0, ssl=verifier(ca))
    async with aiohttp.ClientSession(connector=connector) as http:
        yield Recognizers(http, urls, token)


class RecognizerStream:
    """One channel of a recording, in the protocol of docs/streams/recognizers.md."""

    def __init__(
        self, socket: ClientWebSocketResponse, timeouts: StreamTimeouts | None = None
    ) -> None:
        self._socket = socket
        self._timeouts = timeouts or StreamTimeouts()
        self._finals: list[recognizer.FinalTranscript] = []
        self._chars = 0
        self._messages = 0
        self._is_stopped = False

    async def start(self, start: recognizer.RecognizerStart) -> None:
        """Wait until the recognizer takes the recording; raises TranscriptionError."""
        await self._send_text(start)
        try:
            async with asyncio.timeout(self._timeouts.ready_s):
                while not isinstance(await self._receive(), recognizer.RecognizerReady):
                    pass
        except TimeoutError:
            raise _failed("it did not begin in time") from None

    async def send(self, audio: AsyncIterator[bytes]) -> tuple[recognizer.FinalTranscript, ...]:
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
        await self._send_text(recognizer.RecognizerStop())

    async def _wait_for_end(self, reading: asyncio.Task[None]) -> None:
        """Wait for what is understood of the last audio, as long as there is more of it."""
        before = -1
        while not reading.done():
            if before == self._messages:
                raise _failed("it does not end")
            before = self._messages
            await asyncio.wait((reading,), timeout=self._timeouts.stall_s)

    async def _send_text(
        self, message: recognizer.RecognizerStart | recognizer.RecognizerStop
    ) -> None:
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

    async def _receive(self) -> recognizer.FromRecognizer:
        message = await self._socket.receive()
        if message.type is not WSMsgType.TEXT:
            raise _failed(f"it closed with code {self._socket.close_code}")
        return self._take(message)

    def _take(self, received: WSMessage) -> recognizer.FromRecognizer:
        try:
            message: recognizer.FromRecognizer = decode_message(
                received.data, recognizer.FromRecognizer
            )
        except msgspec.DecodeError:
            raise _failed("it sends something else than the protocol's messages") from None
        self._messages += 1
        match message:
            case recognizer.RecognizerError():
                raise _rejection(message)
            case recognizer.FinalTranscript(text=text) if text:
                self._chars += len(text)
                if self._chars > MAX_TEXT_CHARS:
                    raise _failed("it sends more text than anybody can say")
                self._finals.append(message)
            case _:
                pass
        return message


def _rejection(error: recognizer.RecognizerError) -> TranscriptionError:
    match error.code:
        case "overloaded":
            return Postponed("no_capacity", error.message, BUSY_DELAY_MS)
        case "failed" | "idle":
            return _failed(error.message)
        case _:
            return Untranscribable("rejected", error.message)


def _failed(detail: str) -> AttemptFailed:
    return AttemptFailed("recognizer_failed", f"the recognizer failed: {detail}")
