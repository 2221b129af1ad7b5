"""A websocket to a service: its messages are read until it fails, and then it fails for all."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus

import structlog
from aiohttp import (
    ClientError,
    ClientSession,
    ClientWebSocketResponse,
    ClientWSTimeout,
    WSCloseCode,
    WSMsgType,
    WSServerHandshakeError,
)
from msgspec import MsgspecError

from base.http_client import failure_word
from speech.audio import SAMPLE_BYTES
from speech.recognizer import RecognitionFailed
from wire.streams.recognizer import RecognizerErrorCode

_CONNECT_S = 5.0
_CLOSE_S = 2.0
_HEARTBEAT_S = 10.0  # a network that lost the connection says nothing
_MAX_MESSAGE_BYTES = 1 << 20
log = structlog.get_logger()


async def connect(
    http: ClientSession,
    service: str,
    url: str,
    headers: Mapping[str, str],
    query: Sequence[tuple[str, str]],
) -> ClientWebSocketResponse:
    """Open a websocket to a service; raises RecognitionFailed."""
    try:
        async with asyncio.timeout(_CONNECT_S):
            return await http.ws_connect(
                url,
                params=query,
                headers=headers,
                heartbeat=_HEARTBEAT_S,
                max_msg_size=_MAX_MESSAGE_BYTES,
                timeout=ClientWSTimeout(ws_close=_CLOSE_S),
            )
    except WSServerHandshakeError as error:
        raise rejected(service, error.status) from None
    except (ClientError, OSError, TimeoutError) as error:
        raise unanswered(service, error) from None


class ServiceConnection:
    """The websocket of one stream.

    `take` gets each message; what it raises, MsgspecError or RecognitionFailed, ends the
    connection. `on_failure` wakes those who wait for messages.
    """

    def __init__(
        self,
        service: str,
        socket: ClientWebSocketResponse,
        take: Callable[[str], None],
        on_failure: Callable[[], None],
    ) -> None:
        self._service = service
        self._socket = socket
        self._take = take
        self._on_failure = on_failure
        self._failure: RecognitionFailed | None = None
        self._reader = asyncio.create_task(self._read())

    async def send(self, message: bytes | str) -> None:
        """Send audio or a text; raises RecognitionFailed if the connection has failed."""
        self.check()
        with suppress(OSError):  # the reader says why it is closed
            if isinstance(message, str):
                await self._socket.send_str(message)
            else:
                await self._socket.send_bytes(message)

    async def wait(self, done: asyncio.Event, most_s: float) -> None:
        """Wait until something is done or the time is over; raises RecognitionFailed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                await done.wait()
        self.check()

    def check(self) -> None:
        """Raise the failure of the connection, if any."""
        if self._failure is not None:
            raise self._failure

    async def close(self, farewell: str = "") -> None:
        """Say farewell, if that is usual, and close; never fails."""
        if farewell:
            with suppress(OSError, RecognitionFailed):
                await self.send(farewell)
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        await self._socket.close()

    async def _read(self) -> None:
        try:
            async for message in self._socket:
                if message.type is WSMsgType.TEXT:
                    self._take(message.data)
        except MsgspecError:
            self._fail(RecognitionFailed("failed", f"{self._service}: an unexpected message"))
        except RecognitionFailed as error:
            self._fail(error)
        else:
            self._fail(self._closed(self._socket.close_code))

    def _closed(self, code: int | None) -> RecognitionFailed:
        text = f"{self._service}: closed with code {code}"
        is_busy = code == WSCloseCode.TRY_AGAIN_LATER
        return RecognitionFailed("overloaded" if is_busy else "failed", text)

    def _fail(self, failure: RecognitionFailed) -> None:
        log.warning("speech_service_failed", detail=failure.text)
        self._failure = failure
        self._on_failure()


_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


def rejected(service: str, status: int) -> RecognitionFailed:
    """Return the failure of a request that a service answered with an error's status."""
    code: RecognizerErrorCode = "overloaded" if status in _BUSY else "failed"
    return RecognitionFailed(code, f"{service}: HTTP {status}")


def unanswered(service: str, error: Exception) -> RecognitionFailed:
    """Return the failure of a request without an answer."""
    return RecognitionFailed("failed", f"{service}: {failure_word(error)}")


class AudioChunks:
    """The audio that waits for a message of at least `length_ms`."""

    def __init__(self, rate: int, length_ms: int) -> None:
        self._bytes = rate * length_ms // 1000 * SAMPLE_BYTES
        self._audio = bytearray()

    def add(self, audio: bytes) -> bytes:
        """Return what is to be sent now, if anything."""
        self._audio += audio
        return self.take() if len(self._audio) >= self._bytes else b""

    def take(self) -> bytes:
        """Return what waits."""
        taken = bytes(self._audio)
        self._audio.clear()
        return taken
