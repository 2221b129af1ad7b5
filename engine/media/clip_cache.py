"""The engine's clip cache: cached clips at once, single-flight fetches, background refresh."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from engine.common.tasks import cancel_all
from engine.media.clip import Clip, MadeClip, MediaError, MediaLimits
from engine.media.files import ClipFiles
from engine.media.index import ClipIndex, IndexEntry
from wire.media import Source

_NOT_FOUND = "not_found"
MAX_WAIT_S = 5.0


class ClipMakerPort(Protocol):
    """Makes clips: `ClipMaker`, or a fake in tests."""

    async def make(self, source: Source, etag: str, now_ms: int) -> MadeClip:
        """Make a clip, unless its URL is unchanged since `etag`; raises MediaError."""

    async def close(self) -> None:
        """Stop its processes."""


class ClipCache:
    """Clips by source; `engine.media.open.open_clip_cache` creates and maintains it."""

    def __init__(
        self,
        files: ClipFiles,
        index: ClipIndex,
        maker: ClipMakerPort,
        now_ms: Callable[[], int],
        limits: MediaLimits,
    ) -> None:
        self.index_changed = asyncio.Event()
        self._files = files
        self._index = index
        self._maker = maker
        self._now_ms = now_ms
        self._limits = limits
        self._tasks: dict[Source, asyncio.Task[Clip]] = {}
        self._failed: dict[Source, tuple[int, MediaError]] = {}
        self._background: dict[Source, asyncio.Task[None]] = {}
        self._background_slots = asyncio.Semaphore(limits.prefetch_at_once)

    def cached(self, source: Source) -> Clip | None:
        """Return a source's cached clip (memory only); refresh a stale one in the background."""
        entry = self._index.get(source)
        if entry is None:
            return None
        now_ms = self._now_ms()
        self._files.mark_used(entry.clip.key, now_ms)
        if entry.fresh_until_ms is not None and entry.fresh_until_ms <= now_ms:
            self._refresh_in_background(source)
        return entry.clip

    async def fetch(self, source: Source) -> Clip:
        """Return a source's clip; make it if needed, once for all callers. Raises MediaError."""
        if clip := self.cached(source):
            return clip
        self._raise_recent_failure(source)
        # Shielded: one cancelled caller must not cancel the others' clip.
        return await asyncio.shield(self._start_making(source))

    def prefetch(self, sources: Iterable[Source]) -> None:
        """Make clips in the background; failures are stored, and `fetch` raises them."""
        for source in sources:
            if self.cached(source) is None and source not in self._failed:
                self._refresh_in_background(source)

    @property
    def pending(self) -> int:
        """The number of clips that are being made or queued."""
        return len({*self._tasks, *self._background})

    def path(self, key: str) -> Path | None:
        """Return a clip's file, or None, and mark it as used."""
        self._files.mark_used(key, self._now_ms())
        return self._files.path(key)

    async def wait_for(self, key: str) -> Path | None:
        """Return a clip's file, or None; wait for clips being made, as it may be one of them."""
        try:
            async with asyncio.timeout(MAX_WAIT_S):
                while (path := self.path(key)) is None:
                    making = [*self._tasks.values(), *self._background.values()]
                    if not making:
                        return None
                    await asyncio.wait(making, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            return None
        return path

    def forget(self, key: str) -> None:
        """Drop a clip whose file is missing; its next use makes it again."""
        self._files.forget(key)
        self._index.drop_clips({key})

    async def close(self) -> None:
        """Cancel the clips being made and stop the processes."""
        await cancel_all([*self._background.values(), *self._tasks.values()])
        await self._maker.close()

    def _start_making(self, source: Source) -> asyncio.Task[Clip]:
        task = self._tasks.get(source)
        if task is None:
            task = self._tasks[source] = asyncio.create_task(self._make(source))
            task.add_done_callback(lambda done: self._on_made(source, done))
        return task

    def _on_made(self, source: Source, done: asyncio.Task[Clip]) -> None:
        del self._tasks[source]
        if not done.cancelled():
            done.exception()  # retrieve it: all callers may be cancelled; `_failed` has it

    async def _make(self, source: Source) -> Clip:
        entry = self._index.get(source)
        try:
            made = await self._maker.make(source, entry.etag if entry else "", self._now_ms())
        except MediaError as failure:
            self._store_failure(source, entry, failure)
            raise
        return self._store(source, entry, made)

    def _store(self, source: Source, before: IndexEntry | None, made: MadeClip) -> Clip:
        clip = made.clip or (before.clip if before else None)
        if clip is None:
            raise MediaError("http_status", "'not modified' without a cached clip")
        until_ms = None if made.fresh_ms is None else self._now_ms() + made.fresh_ms
        self._index.put(IndexEntry(source, clip, until_ms, made.etag, made.provider))
        self._failed.pop(source, None)
        self.index_changed.set()
        return clip

    def _store_failure(
        self, source: Source, before: IndexEntry | None, failure: MediaError
    ) -> None:
        now_ms = self._now_ms()
        if before is not None and failure.reason != _NOT_FOUND:
            # The old clip is better than none; the URL is retried later.
            retry_ms = now_ms + self._limits.retry_ms
            self._index.put(IndexEntry(source, before.clip, retry_ms, before.etag, before.provider))
            return
        self._index.drop(source)
        self._failed = {s: f for s, f in self._failed.items() if f[0] > now_ms}
        self._failed[source] = (now_ms + self._limits.retry_ms, failure)

    def _raise_recent_failure(self, source: Source) -> None:
        until_ms, failure = self._failed.get(source, (0, None))
        if failure is not None and until_ms > self._now_ms():
            raise MediaError(failure.reason, failure.text)

    def _refresh_in_background(self, source: Source) -> None:
        if source in self._background or len(self._background) >= self._limits.prefetch_waiting:
            return
        task = self._background[source] = asyncio.create_task(self._run_in_background(source))
        task.add_done_callback(lambda _: self._background.pop(source))

    async def _run_in_background(self, source: Source) -> None:
        async with self._background_slots:
            await asyncio.wait([self._start_making(source)])
