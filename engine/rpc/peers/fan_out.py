"""Scatter-gather over all engines: each returns what it owns.

The store has all calls too, but decoding thousands of them would delay live calls, and only the
owner of a call has its current state.
"""

import asyncio
from contextlib import suppress
from http import HTTPStatus
from typing import TypeVar

import aiohttp
import msgspec
from aiohttp import web
from yarl import URL

from engine.rpc.peers.client import RETRY_DELAY_S, PeerClient, is_forwarded
from engine.runtime.admission.node_selection import NoCapacity
from wire.decoding.messages import decode_message

T = TypeVar("T")
RESPONSE_TIMEOUT_S = 1.0


class FanOut:
    """Repeats a request at all other engines, unless it was forwarded by one of them."""

    def __init__(self, peers: PeerClient) -> None:
        self._peers = peers

    async def collect(self, request: web.Request, shape: type[T]) -> list[T]:
        """Return the responses of the other engines, without those that answer 404.

        Waits while an engine is being replaced; raises NoCapacity if that takes too long, because
        a partial result would look complete.
        """
        if is_forwarded(request):
            return []
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        while (bodies := await self._gather(request)) is None:
            if loop.time() >= began_s + self._peers.owner_wait_s:
                raise NoCapacity("no_owner", "an engine is being replaced")
            self._peers.directory.wake()
            await asyncio.sleep(RETRY_DELAY_S)
        return [decode_message(body, shape) for body in bodies if body]

    async def collect_responding(self, request: web.Request, shape: type[T]) -> list[T]:
        """Return the responses of the other engines that respond, at once."""
        if is_forwarded(request):
            return []
        urls, uri = self._peers.directory.peer_urls, request.rel_url
        bodies = await asyncio.gather(*(self._get(url, uri) for url in urls))
        found = list[T]()
        for body in filter(None, bodies):
            with suppress(msgspec.ValidationError):  # of a later version, during an upgrade
                found.append(decode_message(body, shape))
        return found

    async def _gather(self, request: web.Request) -> list[bytes] | None:
        """Query all engines; None if one is unreachable or a shard has no owner."""
        directory = self._peers.directory
        if not directory.is_settled:
            return None
        uri = request.rel_url
        bodies = await asyncio.gather(*(self._get(url, uri) for url in directory.peer_urls))
        found = [body for body in bodies if body is not None]
        return found if len(found) == len(bodies) else None

    async def _get(self, engine: str, uri: URL) -> bytes | None:
        """Query one engine: its body, empty for 404, or None if it is not available now."""
        try:
            async with (
                asyncio.timeout(RESPONSE_TIMEOUT_S),
                self._peers.request("GET", engine, uri) as response,
            ):
                body = await response.read()
        except (aiohttp.ClientError, TimeoutError):
            return None
        if response.status == HTTPStatus.NOT_FOUND:
            return b""
        return body if response.status == HTTPStatus.OK else None
