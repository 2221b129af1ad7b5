"""What all engines show together: each is asked for its own.

The store has all calls too, but reading and decoding thousands of them would hold up the live ones;
who runs a call has its view at hand, and only its owner knows how it stands now.
"""

import asyncio
from http import HTTPStatus
from typing import TypeVar

import aiohttp
import msgspec
from aiohttp import web

from engine.rpc.peers.client import RETRY_DELAY_S, PeerClient, is_forwarded
from engine.runtime.admission.placement import NoCapacity

T = TypeVar("T")
RESPONSE_TIMEOUT_S = 1.0


class FanOut:
    """Asks the other engines what they are asked; nobody, when it is one of them that asks."""

    def __init__(self, hop: PeerClient) -> None:
        self._hop = hop

    async def collect(self, request: web.Request, shape: type[T]) -> list[T]:
        """Give what the others show; those that have nothing of it are left out.

        While an engine is being replaced this waits; raises NoRoom when that takes long, for half
        the truth would pass for all of it.
        """
        if is_forwarded(request):
            return []
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        while (bodies := await self._asked(request)) is None:
            if loop.time() >= began_s + self._hop.owner_wait_s:
                raise NoCapacity("no_owner", "an engine is being replaced")
            self._hop.directory.wake()
            await asyncio.sleep(RETRY_DELAY_S)
        return [msgspec.json.decode(body, type=shape) for body in bodies if body]

    async def _asked(self, request: web.Request) -> list[bytes] | None:
        """Ask all; None when one of them can't be reached, or a slot is nobody's."""
        owners = self._hop.directory
        if not owners.is_settled:
            return None
        uri = request.rel_url
        bodies = await asyncio.gather(*(self._of(f"{url}{uri}") for url in owners.peer_urls))
        found = [body for body in bodies if body is not None]
        return found if len(found) == len(bodies) else None

    async def _of(self, address: str) -> bytes | None:
        """Ask one: a body, empty when it has none, or None when it is not to be had now."""
        try:
            async with asyncio.timeout(RESPONSE_TIMEOUT_S), self._hop.session.get(address) as got:
                body = await got.read()
        except (aiohttp.ClientError, TimeoutError):
            return None
        if got.status == HTTPStatus.NOT_FOUND:
            return b""
        return body if got.status == HTTPStatus.OK else None
