"""Requests over plain HTTP: those that may block inside Asterisk, and all as a fallback.

Asterisk lets ten new connections wait. The kernel drops the request for another one, and repeats
it after a second and after three. When many calls change at once that is too late for them, so
such a connection is tried again sooner.
"""

import asyncio
from contextlib import suppress

import aiohttp
import structlog

from base.tasks import cancel_all
from engine.ari.config import PbxConnection
from engine.ari.request import LOST, OnReply, Reply, Request

REPEAT_AFTER_S = (0.2, 0.4)  # without a connection

log = structlog.get_logger()


class HttpTransport:
    """Uses a pool of connections: a blocked request delays no other."""

    def __init__(self, pbx: PbxConnection) -> None:
        self._pbx = pbx
        self._in_flight: set[asyncio.Task[Reply]] = set()

    def send(self, request: Request, on_reply: OnReply) -> None:
        """Send at once; a reply slower than the timeout counts as LOST."""
        task = asyncio.get_running_loop().create_task(self._request(request))
        self._in_flight.add(task)
        task.add_done_callback(lambda ended: self._settle(ended, on_reply))

    async def close(self) -> None:
        """Cancel the requests in flight; each gets the reply LOST."""
        await cancel_all(self._in_flight)

    def _settle(self, task: asyncio.Task[Reply], on_reply: OnReply) -> None:
        self._in_flight.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:  # a closed session, a request that cannot be sent
            log.error("ari request failed", exc_info=error)
        on_reply(LOST if error is not None or task.cancelled() else task.result())

    async def _request(self, request: Request) -> Reply:
        try:
            async with asyncio.timeout(self._pbx.timeouts.request_s):
                for connect_s in REPEAT_AFTER_S:
                    with suppress(aiohttp.ConnectionTimeoutError):  # so it was not sent
                        return await self._try(request, connect_s)
                return await self._try(request, None)
        except (aiohttp.ClientError, OSError, TimeoutError):
            return LOST

    async def _try(self, request: Request, connect_s: float | None) -> Reply:
        async with self._pbx.http.request(
            request.method,
            self._pbx.url_for(request.uri),
            json=request.body,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_s),
        ) as response:
            return Reply(response.status, await response.read())
