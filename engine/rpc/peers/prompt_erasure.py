"""Removes what the audio caches of all engines have of a number: each engine has its own."""

import asyncio

import aiohttp
import msgspec
import structlog
from msgspec import Struct
from yarl import URL

from engine.media.clip_cache import ClipCache
from engine.rpc.peers.client import PeerClient
from wire.decoding.messages import decode_message
from wire.erasure import ErasedPrompts, ErasePrompts, NumberMatcher

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
