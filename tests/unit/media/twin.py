"""A library whose studio is a twin: it gives what the test put in, when the test lets it."""

import asyncio
from pathlib import Path

from engine.media.clip import Clip, MadeClip, MediaError, MediaLimits
from engine.media.clip_cache import ClipCache
from engine.media.files import ClipFiles
from engine.media.index import ClipIndex
from wire.media import Audio, Source, Speech

A, B = Audio("https://a.example/a.mp3"), Speech("Hello")
ONE, TWO = Clip("1" * 32, 100), Clip("2" * 32, 200)


class FakeClipMaker:
    """A studio that gives what the test put in, when the test lets it."""

    def __init__(self) -> None:
        self.gives: dict[Source, MadeClip | MediaError] = {}
        self.asked: list[tuple[Source, str]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.busy = 0
        self.busiest = 0

    async def make(self, source: Source, etag: str, now_ms: int) -> MadeClip:
        """Wait for the test, then give or fail."""
        del now_ms
        self.asked.append((source, etag))
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        try:
            await self.open.wait()
        finally:
            self.busy -= 1
        given = self.gives.get(source, MadeClip(ONE, None))
        if isinstance(given, MediaError):
            raise given
        return given

    async def close(self) -> None:
        """Nothing runs."""


class CacheBench:
    """A library, its twin studio, and a clock that the test moves."""

    def __init__(self, directory: Path) -> None:
        limits = MediaLimits(prefetch_at_once=2, prefetch_waiting=5)
        self.now_ms = 0
        self.studio = FakeClipMaker()
        self.library = ClipCache(
            ClipFiles(directory, limits), ClipIndex(100), self.studio, lambda: self.now_ms, limits
        )

    async def settled(self) -> None:
        """Let what runs behind come to its end."""
        for _ in range(20):
            await asyncio.sleep(0)
