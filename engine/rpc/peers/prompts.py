"""Prompts of all engines: a clip that another engine made, and the erasure of a number in all."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

import aiohttp
import msgspec
import structlog
from msgspec import Struct
from yarl import URL

from base.tasks import first_found
from engine.media.clip_cache import ClipCache
from engine.rpc.peers.client import PeerClient
from wire.decoding.messages import decode_message
from wire.erasure import ErasedPrompts, ErasePrompts, NumberMatcher

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


log = structlog.get_logger()
TIMEOUT_S = 5.0
_PATH = URL("/rpc/v1/peers/prompt-erasures")


class PromptErasure(Struct, frozen=True):
    """The audio cache of this engine, and the way to those of the others."""

    clips: ClipCache
    peers: PeerClient

    async def erase_here(self, body: ErasePrompts) -> int:
        """Remove prompts of this engine; return how many."""
        matcher = NumberMatcher(body.number, body.region)
        return await self.clips.erase(body.account, matcher.is_in)

    async def erase(self, body: ErasePrompts) -> tuple[int, int]:
        """Remove prompts of all engines; return how many, and how many engines do not answer."""
        here = await self.erase_here(body)
        urls = self.peers.directory.peer_urls
        found = await asyncio.gather(*(self._ask(url, msgspec.json.encode(body)) for url in urls))
        return here + sum(each.prompts for each in found if each), found.count(None)

    async def _ask(self, engine: str, body: bytes) -> ErasedPrompts | None:
        headers = {"Content-Type": "application/json"}
        try:
            async with (
                asyncio.timeout(TIMEOUT_S),
                self.peers.request("POST", engine, _PATH, body, headers) as response,
            ):
                response.raise_for_status()
                return decode_message(await response.read(), ErasedPrompts)
        except (aiohttp.ClientError, TimeoutError, msgspec.DecodeError) as error:
            log.warning("prompts not erased", url=engine, error=str(error) or "timeout")
            return None
