"""Which recognizers a gateway reaches, for the checks of `switchroom doctor`."""

import ssl

import aiohttp
import msgspec
from yarl import URL

from base.http_errors import failure_word
from streams.bots.destinations import RecognizerServer
from wire.streams.recognizer import ListedRecognizer, RecognizerList

_TIMEOUT = aiohttp.ClientTimeout(total=3.0)
_decode = msgspec.json.Decoder(tuple[ListedRecognizer, ...]).decode


class RecognizerDirectory:
    """Asks the operator's server of recognizers what it has."""

    def __init__(self, server: RecognizerServer | None, trust: ssl.SSLContext) -> None:
        self._server = server
        self._trust = trust

    async def read(self) -> RecognizerList:
        """Return the recognizers, or why there are none."""
        server = self._server
        if server is None:
            return RecognizerList(error="SWITCHROOM_STREAMS_RECOGNIZERS is not set")
        base = URL(server.url)
        url = base.with_scheme("https" if base.scheme == "wss" else "http") / "recognizers"
        try:
            return await self._ask(url, {"Authorization": f"Bearer {server.token}"})
        except msgspec.MsgspecError:
            return RecognizerList(error=f"{url}: no list of recognizers")
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            return RecognizerList(error=f"{server.url}: {failure_word(error)}")

    async def _ask(self, url: URL, headers: dict[str, str]) -> RecognizerList:
        connector = aiohttp.TCPConnector(ssl=self._trust)
        async with (
            aiohttp.ClientSession(connector=connector, timeout=_TIMEOUT) as http,
            http.get(url, headers=headers, allow_redirects=False) as reply,
        ):
            if not reply.ok:
                return RecognizerList(error=f"{url}: HTTP {reply.status}")
            return RecognizerList(_decode(await reply.read()))
