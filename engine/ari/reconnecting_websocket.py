"""A websocket to one Stasis app that reconnects with backoff."""

import asyncio
from collections.abc import Awaitable, Callable

import aiohttp
import msgspec
import structlog
from aiohttp import ClientWebSocketResponse, ClientWSTimeout
from yarl import URL

from engine.ari.config import PbxConnection

Websocket = ClientWebSocketResponse[bool]
Serve = Callable[[Websocket], Awaitable[str]]
_REFUSED_STATUS = (401, 403)


class Backoff:
    """Exponential delays with full jitter; `random` returns a number from 0 up to 1.

    Full jitter spreads the reconnections of engines that lost the same PBX (Amazon Builders'
    Library, "Timeouts, retries, and backoff with jitter").
    """

    def __init__(
        self, random: Callable[[], float], first_s: float = 0.1, limit_s: float = 5.0
    ) -> None:
        self._random = random
        self._first_s = first_s
        self.limit_s = limit_s
        self._ceiling_s = first_s

    def next_s(self) -> float:
        """Return the next delay in seconds, and double the limit of the one after it."""
        delay_s = self._random() * self._ceiling_s
        self._ceiling_s = min(self._ceiling_s * 2, self.limit_s)
        return delay_s

    def reset(self) -> None:
        self._ceiling_s = self._first_s


def always_allowed() -> bool:
    return True


class Stopped(Exception):
    """Raised while serving to stop reconnecting."""


class ServiceRefused(Exception):
    """Raised while serving when an early retry is pointless."""


class ReconnectingWebsocket:
    """Keeps a websocket to `app` connected; each attempt only while `is_allowed`."""

    def __init__(
        self,
        pbx: PbxConnection,
        app: str,
        heartbeat_s: float,
        is_allowed: Callable[[], bool] = always_allowed,
    ) -> None:
        self._pbx = pbx
        self._app = app
        self._heartbeat_s = heartbeat_s
        self._is_allowed = is_allowed
        timeouts = pbx.timeouts
        self._backoff = Backoff(pbx.random, timeouts.first_retry_s, timeouts.max_retry_s)
        self._last_reason = ""
        self._log = structlog.get_logger().bind(node=pbx.address.name, app=app)

    @property
    def dead_after_ms(self) -> int:
        """After what time without a message a peer is dead: a ping, and half as long for a pong."""
        return round(1_500 * self._heartbeat_s)

    async def run(self, serve: Serve, on_lost: Callable[[str], None]) -> None:
        """Connect and serve until cancelled or Stopped; `on_lost` gets the reason of each end."""
        while True:
            if not self._is_allowed():
                await asyncio.sleep(self._pbx.timeouts.first_retry_s)
                continue
            try:
                reason, is_refused = await self._attempt(serve)
            except Stopped:
                return
            self._log_once(reason, is_refused)
            on_lost(reason)
            delay_s = self._pbx.timeouts.refused_retry_s if is_refused else self._backoff.next_s()
            await asyncio.sleep(delay_s)

    async def _attempt(self, serve: Serve) -> tuple[str, bool]:
        try:
            return await self._serve_connection(serve), False
        except aiohttp.WSServerHandshakeError as error:
            if error.status in _REFUSED_STATUS:
                return f"user or password refused ({error.status})", True
            return f"handshake answered {error.status}", False
        except ServiceRefused as error:
            return str(error), True
        except (aiohttp.ClientError, OSError, TimeoutError, msgspec.DecodeError) as error:
            return f"{type(error).__name__} {error}".rstrip(), False

    async def _serve_connection(self, serve: Serve) -> str:
        async with asyncio.timeout(self._pbx.timeouts.connect_s):
            websocket = await self._connect()
        started_s = self._pbx.clock()
        try:
            return await serve(websocket)
        finally:
            await websocket.close()
            # Only quick failures in a row lengthen the delay; a connection that lasted resets it.
            if self._pbx.clock() - started_s > self._pbx.timeouts.max_retry_s:
                self._backoff.reset()
                self._last_reason = ""

    async def _connect(self) -> Websocket:
        # decode_text=False: msgspec decodes the bytes.
        return await self._pbx.http.ws_connect(
            URL(self._pbx.url_for("events")).with_query(app=self._app),
            heartbeat=self._heartbeat_s,
            timeout=ClientWSTimeout(ws_close=self._pbx.timeouts.close_s),
            decode_text=False,
        )

    def _log_once(self, reason: str, is_refused: bool) -> None:
        if reason == self._last_reason:
            return
        self._last_reason = reason
        if is_refused:
            self._log.error("ari websocket refused", reason=reason)
        else:
            self._log.warning("ari websocket lost", reason=reason)


def close_reason(websocket: Websocket) -> str:
    error = websocket.exception()
    return f"websocket closed ({websocket.close_code})" + (f": {error!r}" if error else "")
