"""Requests over plain HTTP: those that may block inside Asterisk, and all as a fallback."""

import asyncio

import aiohttp
import structlog

from engine.ari.config import PbxConnection
from engine.ari.request import LOST, OnReply, Reply, Request
from engine.common.tasks import cancel_all

log = structlog.get_logger()


class HttpTransport:
    """Uses a pool of connections: a blocked request delays no other."""

    def __init__(self, pbx: PbxConnection) -> None:
        self._pbx = pbx
        self._timeout = aiohttp.ClientTimeout(total=pbx.timeouts.request_s)
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
            async with self._pbx.http.request(
                request.method,
                self._pbx.url_for(request.uri),
                json=request.body,
                timeout=self._timeout,
            ) as response:
                return Reply(response.status, await response.read())
        except (aiohttp.ClientError, OSError, TimeoutError):
            return LOST
