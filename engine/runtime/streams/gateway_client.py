"""One stream gateway: its requests over HTTP, and its reports on a websocket."""

import asyncio
from collections.abc import Callable
from typing import Protocol

import aiohttp
import msgspec
import structlog

from base.http_client import failure_word
from wire.decoding.messages import decode_message
from wire.streams.reports import Report
from wire.streams.setup import StreamMessage, StreamSetup

log = structlog.get_logger()
REQUEST_TIMEOUT = aiohttp.ClientTimeout(total=2.0)
CONNECT_TIMEOUT_S = 1.5
HEARTBEAT_S = 2.0  # a gateway that stands still is noticed after 3 s at most
FIRST_RETRY_S = 0.1
MAX_RETRY_S = 2.0
REJECTED = (400, 413, 422)


class ReportListener(Protocol):
    """What listens to a gateway."""

    def on_connected(self) -> None:
        """Expect reports; the first one is a Snapshot."""

    def on_report(self, report: Report) -> None:
        """Take a report."""

    def on_disconnected(self) -> None:
        """Expect no reports: the connection is lost, or could not be made."""


class GatewayClient:
    """A gateway at one address; `run` keeps its reports coming."""

    def __init__(
        self, url: str, token: str, http: aiohttp.ClientSession, random: Callable[[], float]
    ) -> None:
        self.url = url.rstrip("/")
        self._http = http
        self._headers = {"Authorization": f"Bearer {token}"}
        self._random = random
        self._log = log.bind(gateway=self.url)

    async def set_up(self, stream: str, setup: StreamSetup) -> None:
        """Set a stream up, or change nothing; raises GatewayUnavailable and StreamRejected."""
        await self._send("PUT", f"streams/{stream}", msgspec.json.encode(setup))

    async def send(self, stream: str, message_id: str, message: StreamMessage) -> None:
        """Send a message to a bot; raises GatewayUnavailable and StreamRejected."""
        body = msgspec.json.encode(message)
        await self._send("PUT", f"streams/{stream}/messages/{message_id}", body)

    async def end(self, stream: str) -> None:
        """End a stream, and forget it; raises GatewayUnavailable."""
        await self._send("DELETE", f"streams/{stream}", b"")

    async def _send(self, method: str, path: str, body: bytes) -> None:
        url = f"{self.url}/{path}"
        headers = {**self._headers, "Content-Type": "application/json"}
        try:
            async with self._http.request(
                method, url, data=body, headers=headers, timeout=REQUEST_TIMEOUT
            ) as response:
                text = await response.text()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise GatewayUnavailable(failure_word(error)) from error
        if response.status in REJECTED:
            raise StreamRejected(text[:500])
        if not response.ok and response.status != 404:  # noqa: PLR2004 - it has ended already
            raise GatewayUnavailable(f"status {response.status}: {text[:200]}")

    async def run(self, listener: ReportListener) -> None:
        """Pass reports on, and reconnect, until cancelled."""
        ceiling_s, last_reason = FIRST_RETRY_S, ""
        while True:
            reason = await self._listen(listener)
            listener.on_disconnected()
            if reason:
                if reason != last_reason:
                    self._log.warning("stream gateway not connected", reason=reason)
                ceiling_s = min(ceiling_s * 2, MAX_RETRY_S)
            else:
                self._log.warning("stream gateway lost")
                ceiling_s = FIRST_RETRY_S
            last_reason = reason
            await asyncio.sleep(self._random() * ceiling_s)

    async def _listen(self, listener: ReportListener) -> str:
        """Listen until the connection ends; return why there was none, else nothing."""
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                websocket = await self._http.ws_connect(
                    f"{self.url}/reports", headers=self._headers, heartbeat=HEARTBEAT_S
                )
        except aiohttp.WSServerHandshakeError as error:
            return f"status {error.status}"
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            return failure_word(error)
        async with websocket:
            listener.on_connected()
            try:
                async for message in websocket:
                    if message.type is aiohttp.WSMsgType.TEXT:
                        listener.on_report(decode_message(message.data, Report))
                        await asyncio.sleep(0)  # others have their turns between two reports
            except (aiohttp.ClientError, OSError, msgspec.DecodeError) as error:
                self._log.warning("stream gateway: reports unreadable", error=str(error))
        return ""


class GatewayUnavailable(Exception):
    """The gateway gave no response, is full, or shuts down: another one may take the stream."""


class StreamRejected(Exception):
    """The gateway cannot set the stream up, and no other one could."""
