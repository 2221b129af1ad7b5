"""A clip cache with a fake clip maker: results and timing are set by the test."""

import asyncio
from pathlib import Path

from base.fair_slots import URGENCY, Urgency
from engine.media.clip import Clip, MadeClip, MediaError, MediaLimits, OwnedSource
from engine.media.clip_cache import ClipCache
from engine.media.files import ClipFiles
from engine.media.index import ClipIndex
from wire.media import Audio, Source, Speech

A, B = Audio("https://a.example/a.mp3"), Speech("Hello")
ONE, TWO = Clip("1" * 32, 100), Clip("2" * 32, 200)


class FakeClipMaker:
    """Returns the results that the test sets, when the test allows it."""

    def __init__(self) -> None:
        self.results: dict[Source, MadeClip | MediaError] = {}
        self.requests: list[tuple[Source, str]] = []
        self.urgency: list[tuple[Source, Urgency]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.busy = 0
        self.max_busy = 0

    async def make(self, owned: OwnedSource, etag: str, now_ms: int) -> MadeClip:
        """Wait for the test, then return or fail."""
        del now_ms
        self.requests.append((owned.source, etag))
        self.urgency.append((owned.source, URGENCY.get() or Urgency()))
        self.busy += 1
        self.max_busy = max(self.max_busy, self.busy)
        try:
            await self.open.wait()
        finally:
            self.busy -= 1
        result = self.results.get(owned.source, MadeClip(ONE, None))
        if isinstance(result, MediaError):
            raise result
        return result

    async def close(self) -> None:
        """Do nothing."""


class CacheScene:
    """A cache, its fake clip maker, and a clock that the test sets."""

    def __init__(self, directory: Path) -> None:
        limits = MediaLimits(prefetch_at_once=4, prefetch_waiting=8, prefetch_waiting_of_account=5)
        self.now_ms = 0
        self.maker = FakeClipMaker()
        self.cache = ClipCache(
            ClipFiles(directory, limits),
            ClipIndex(100, 1 << 20),
            self.maker,
            lambda: self.now_ms,
            limits,
        )

    async def run_background_tasks(self) -> None:
        """Let the background tasks finish."""
        for _ in range(20):
            await asyncio.sleep(0)
