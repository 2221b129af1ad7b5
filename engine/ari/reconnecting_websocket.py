"""One websocket to one Stasis app, kept: connect, serve, wait, connect again."""

import asyncio
from collections.abc import Awaitable, Callable

import aiohttp
import msgspec
import structlog
from aiohttp import ClientWebSocketResponse, ClientWSTimeout
from yarl import URL

from engine.ari.backoff import Backoff
from engine.ari.config import PbxConnection

Websocket = ClientWebSocketResponse[bool]
Serve = Callable[[Websocket], Awaitable[str]]
_REFUSED = (401, 403)


def always_allowed() -> bool:
    """Let every attempt be made."""
    return True


class Stopped(Exception):
    """Raised while serving to end the link for good."""


class ServiceRefused(Exception):
    """Raised while serving when trying again soon is pointless."""


class ReconnectingWebsocket:
    """Keeps a websocket to `app`, one attempt after another, each only while it `may`."""

    def __init__(
        self,
        pbx: PbxConnection,
        app: str,
        heartbeat_s: float,
        may: Callable[[], bool] = always_allowed,
    ) -> None:
        self._pbx = pbx
        self._app = app
        self._heartbeat_s = heartbeat_s
        self._is_allowed = may
        patience = pbx.timeouts
        self._backoff = Backoff(pbx.random, patience.first_retry_s, patience.max_retry_s)
        self._last_reason = ""
        self._log = structlog.get_logger().bind(node=pbx.address.name, app=app)

    async def run(self, serve: Serve, on_lost: Callable[[str], None]) -> None:
        """Connect and serve until cancelled or Stopped; `on_lost` hears why each attempt ended."""
        while True:
            if not self._is_allowed():
                await asyncio.sleep(self._pbx.timeouts.first_retry_s)
                continue
            try:
                reason, refused = await self._attempt(serve)
            except Stopped:
                return
            self._log_once(reason, refused)
            on_lost(reason)
            delay_s = self._pbx.timeouts.refused_retry_s if refused else self._backoff.next_s()
            await asyncio.sleep(delay_s)

    async def _attempt(self, serve: Serve) -> tuple[str, bool]:
        try:
            return await self._serve_connection(serve), False
        except aiohttp.WSServerHandshakeError as error:
            if error.status in _REFUSED:
                return f"user or password refused ({error.status})", True
            return f"handshake answered {error.status}", False
        except ServiceRefused as error:
            return str(error), True
        except (aiohttp.ClientError, OSError, TimeoutError, msgspec.DecodeError) as error:
            return f"{type(error).__name__} {error}".rstrip(), False

    async def _serve_connection(self, serve: Serve) -> str:
        async with asyncio.timeout(self._pbx.timeouts.connect_s):
            websocket = await self._connect()
        began_s = self._pbx.clock()
        try:
            return await serve(websocket)
        finally:
            await websocket.close()
            # A connection that held was good: only quick failures in a row are waited out longer.
            if self._pbx.clock() - began_s > self._pbx.timeouts.max_retry_s:
                self._backoff.reset()
                self._last_reason = ""

    async def _connect(self) -> Websocket:
        # decode_text=False: msgspec reads the bytes as they came.
        return await self._pbx.http.ws_connect(
            URL(self._pbx.url_for("events")).with_query(app=self._app),
            heartbeat=self._heartbeat_s,
            timeout=ClientWSTimeout(ws_close=self._pbx.timeouts.close_s),
            decode_text=False,
        )

    def _log_once(self, reason: str, refused: bool) -> None:
        if reason == self._last_reason:
            return
        self._last_reason = reason
        if refused:
            self._log.error("ari_refused", reason=reason)
        else:
            self._log.warning("ari_websocket_lost", reason=reason)


def close_reason(websocket: Websocket) -> str:
    """Say why a websocket ended."""
    error = websocket.exception()
    return f"websocket closed ({websocket.close_code})" + (f": {error!r}" if error else "")
