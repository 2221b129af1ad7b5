"""Requests over plain HTTP: those that may wait inside Asterisk, and all when it must be so."""

import asyncio

import aiohttp

from engine.ari.config import PbxConnection
from engine.ari.request import LOST, OnReply, Reply, Request


class HttpTransport:
    """A pool of connections: a request that waits holds up no other."""

    def __init__(self, pbx: PbxConnection) -> None:
        self._pbx = pbx
        self._timeout = aiohttp.ClientTimeout(total=pbx.timeouts.request_s)
        self._in_flight: set[asyncio.Task[Reply]] = set()

    def send(self, request: Request, done: OnReply) -> None:
        """Send at once; a reply slower than the limit counts as LOST."""
        task = asyncio.get_running_loop().create_task(self._answer(request))
        self._in_flight.add(task)
        task.add_done_callback(lambda ended: self._settle(ended, done))

    async def close(self) -> None:
        """End what is under way; each of those requests is answered LOST."""
        under_way = tuple(self._in_flight)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    def _settle(self, task: asyncio.Task[Reply], done: OnReply) -> None:
        self._in_flight.discard(task)
        done(LOST if task.cancelled() else task.result())

    async def _answer(self, request: Request) -> Reply:
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
