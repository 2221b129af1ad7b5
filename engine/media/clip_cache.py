"""The clips of an engine: known at once, fetched once for all who ask, renewed behind them."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from engine.media.clip import Clip, MadeClip, MediaError, MediaLimits
from engine.media.files import ClipFiles
from engine.media.index import ClipIndex, IndexEntry
from wire.media import Source

_NOT_FOUND = "not_found"
MAX_WAIT_S = 5.0


class ClipMakerPort(Protocol):
    """What makes clips: the studio, or a test's twin of it."""

    async def make(self, source: Source, etag: str, now_ms: int) -> MadeClip:
        """Make a clip, unless nothing changed since `etag`; raises MediaFailed."""

    async def close(self) -> None:
        """End what it runs."""


class ClipCache:
    """Clips by source; `opened` (engine.media.open) makes one and keeps its house."""

    def __init__(
        self,
        shelf: ClipFiles,
        index: ClipIndex,
        maker: ClipMakerPort,
        now_ms: Callable[[], int],
        limits: MediaLimits,
    ) -> None:
        self.changed = asyncio.Event()
        self._shelf = shelf
        self._index = index
        self._maker = maker
        self._now_ms = now_ms
        self._limits = limits
        self._making: dict[Source, asyncio.Task[Clip]] = {}
        self._failed: dict[Source, tuple[int, MediaError]] = {}
        self._quiet: dict[Source, asyncio.Task[None]] = {}
        self._room = asyncio.Semaphore(limits.prefetch_at_once)

    def known(self, source: Source) -> Clip | None:
        """Give a source's clip if it is at hand (memory only); a stale one is renewed behind it."""
        entry = self._index.get(source)
        if entry is None:
            return None
        now_ms = self._now_ms()
        self._shelf.use(entry.clip.key, now_ms)
        if entry.fresh_until_ms is not None and entry.fresh_until_ms <= now_ms:
            self._behind(source)
        return entry.clip

    async def fetch(self, source: Source) -> Clip:
        """Give a source's clip, made now if need be, once for all who wait; raises MediaFailed."""
        if clip := self.known(source):
            return clip
        self._raise_recent(source)
        # Shielded: one who stops waiting stops nobody else's clip.
        return await asyncio.shield(self._once(source))

    def prefetch(self, sources: Iterable[Source]) -> None:
        """Have clips made without waiting; what fails is remembered for `fetch` to tell."""
        for source in sources:
            if self.known(source) is None and source not in self._failed:
                self._behind(source)

    @property
    def making(self) -> int:
        """How many clips are being made, or wait for that."""
        return len({*self._making, *self._quiet})

    def path(self, key: str) -> Path | None:
        """Where a clip's file lies, or None; asking counts as a use."""
        self._shelf.use(key, self._now_ms())
        return self._shelf.path(key)

    async def coming(self, key: str) -> Path | None:
        """Where a clip's file lies; waits for what is being made, for it may be one of these."""
        try:
            async with asyncio.timeout(MAX_WAIT_S):
                while (path := self.path(key)) is None:
                    making = [*self._making.values(), *self._quiet.values()]
                    if not making:
                        return None
                    await asyncio.wait(making, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            return None
        return path

    def forget(self, key: str) -> None:
        """Drop a clip whose file is gone, so that it is made again at its next use."""
        self._shelf.forget(key)
        self._index.drop_clips({key})

    async def close(self) -> None:
        """Give up what is being made and end the processes."""
        tasks = [*self._quiet.values(), *self._making.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._maker.close()

    def _once(self, source: Source) -> asyncio.Task[Clip]:
        task = self._making.get(source)
        if task is None:
            task = self._making[source] = asyncio.create_task(self._make(source))
            task.add_done_callback(lambda done: self._made(source, done))
        return task

    def _made(self, source: Source, done: asyncio.Task[Clip]) -> None:
        del self._making[source]
        if not done.cancelled():
            done.exception()  # nobody may be waiting any more; it is remembered

    async def _make(self, source: Source) -> Clip:
        entry = self._index.get(source)
        try:
            made = await self._maker.make(source, entry.etag if entry else "", self._now_ms())
        except MediaError as failure:
            self._note_failure(source, entry, failure)
            raise
        return self._note(source, entry, made)

    def _note(self, source: Source, before: IndexEntry | None, made: MadeClip) -> Clip:
        clip = made.clip or (before.clip if before else None)
        if clip is None:
            raise MediaError("http_status", "'not modified' to one who has nothing")
        until_ms = None if made.fresh_ms is None else self._now_ms() + made.fresh_ms
        self._index.put(IndexEntry(source, clip, until_ms, made.etag, made.speaker))
        self._failed.pop(source, None)
        self.changed.set()
        return clip

    def _note_failure(self, source: Source, before: IndexEntry | None, failure: MediaError) -> None:
        now_ms = self._now_ms()
        if before is not None and failure.reason != _NOT_FOUND:
            # What was heard until now is better than nothing; its address is asked again later.
            retry_ms = now_ms + self._limits.retry_ms
            self._index.put(IndexEntry(source, before.clip, retry_ms, before.etag, before.speaker))
            return
        self._index.drop(source)
        self._failed = {s: f for s, f in self._failed.items() if f[0] > now_ms}
        self._failed[source] = (now_ms + self._limits.retry_ms, failure)

    def _raise_recent(self, source: Source) -> None:
        until_ms, failure = self._failed.get(source, (0, None))
        if failure is not None and until_ms > self._now_ms():
            raise MediaError(failure.reason, failure.text)

    def _behind(self, source: Source) -> None:
        if source in self._quiet or len(self._quiet) >= self._limits.prefetch_waiting:
            return
        task = self._quiet[source] = asyncio.create_task(self._quietly(source))
        task.add_done_callback(lambda _: self._quiet.pop(source))

    async def _quietly(self, source: Source) -> None:
        async with self._room:
            await asyncio.wait([self._once(source)])
