"""Clips of the other engines: a PBX may ask any engine for a clip that another one made."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

import aiohttp
from msgspec import Struct
from yarl import URL

from base.tasks import first_found
from engine.rpc.peers.client import PeerClient

FIND_TIMEOUT_S = 6.0  # an engine waits for a clip that it makes; the PBX waits for 10 s


class RemoteClips(Struct, frozen=True):
    """Asks all other engines at once for a clip, and reads it from the first that has it."""

    peers: PeerClient

    async def find(self, path: str) -> str | None:
        """Return the URL of an engine that has the clip at this path."""
        urls = self.peers.directory.peer_urls
        return await first_found(self._has(url, path) for url in urls)

    @asynccontextmanager
    async def open(self, engine: str, path: str) -> AsyncIterator[aiohttp.ClientResponse]:
        """Open an engine's clip; raises aiohttp.ClientError."""
        async with self.peers.request("GET", engine, URL(path)) as response:
            response.raise_for_status()
            yield response

    async def _has(self, engine: str, path: str) -> str | None:
        try:
            async with (
                asyncio.timeout(FIND_TIMEOUT_S),
                self.peers.request("HEAD", engine, URL(path)) as response,
            ):
                return engine if response.status == HTTPStatus.OK else None
        except (aiohttp.ClientError, TimeoutError):
            return None
