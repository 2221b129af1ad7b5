"""The recognizers of recordings: which of several processes takes one, and what it understands."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

import aiohttp
import structlog
from aiohttp import ClientWebSocketResponse, ClientWSTimeout, WSServerHandshakeError

from api.engine_client import verifier
from api.transcripts.outcomes import Postponed, TranscriptionError, Untranscribable
from api.transcripts.recognizer_stream import RecognizerStream, StreamTimeouts
from wire.streams.recognizer import FinalTranscript, RecognizerStart

BUSY_DELAY_MS = 15_000
CONNECT_S = 5.0
CLOSE_S = 5.0
MAX_MESSAGE_BYTES = 1 << 20
Audio = Callable[[], AsyncIterator[bytes]]
log = structlog.get_logger()


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
        self, name: str, start: RecognizerStart, audio: Audio
    ) -> tuple[FinalTranscript, ...]:
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
