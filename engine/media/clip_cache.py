"""The engine's clip cache: cached clips at once, single-flight fetches, background refresh."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol
from weakref import WeakKeyDictionary, WeakSet

from msgspec.structs import replace

from base.fair_slots import URGENCY, FairSlots, Urgency
from base.tasks import cancel_all
from engine.media.clip import Clip, MadeClip, MediaError, MediaLimits, OwnedSource
from engine.media.files import ClipFiles
from engine.media.index import ClipIndex, IndexEntry
from wire.media import Audio, Source, Speech

_NOT_FOUND = "not_found"
MAX_WAIT_S = 5.0


class ClipMakerPort(Protocol):
    """Makes clips: `ClipMaker`, or a fake in tests."""

    async def make(self, owned: OwnedSource, etag: str, now_ms: int) -> MadeClip:
        """Make a clip, unless its URL is unchanged since `etag`; raises MediaError."""

    async def close(self) -> None:
        """Stop its processes."""


class ClipCache:
    """Clips by account and source; `engine.media.open.open_clip_cache` creates and maintains it."""

    def __init__(
        self,
        files: ClipFiles,
        index: ClipIndex,
        maker: ClipMakerPort,
        now_ms: Callable[[], int],
        limits: MediaLimits,
    ) -> None:
        self.index_changed = asyncio.Event()
        self.hits = self.misses = 0  # of clips that calls need
        self._files = files
        self._index = index
        self._maker = maker
        self._now_ms = now_ms
        self._limits = limits
        self._tasks: dict[OwnedSource, asyncio.Task[Clip]] = {}
        self._failed: dict[OwnedSource, tuple[int, MediaError]] = {}
        self._background: dict[OwnedSource, asyncio.Task[None]] = {}
        self._urgency: WeakKeyDictionary[asyncio.Task[Clip], Urgency] = WeakKeyDictionary()
        self._erased: WeakSet[asyncio.Task[Clip]] = WeakSet()  # what they make is not stored
        self._demand = ClipDemand()
        self._waiting: Counter[str] = Counter()  # in the background, by account
        self._background_slots = FairSlots(
            limits.prefetch_at_once, max(1, limits.prefetch_at_once // 2)
        )

    def cached(self, account: str, source: Source) -> Clip | None:
        """Return an account's cached clip (memory only); refresh a stale one in the background."""
        clip = self._cached(OwnedSource(account, source))
        self.hits += clip is not None
        return clip

    def _cached(self, owned: OwnedSource) -> Clip | None:
        entry = self._index.get(owned)
        if entry is None:
            return None
        now_ms = self._now_ms()
        self._files.mark_used(entry.clip.key, now_ms)
        if entry.fresh_until_ms is not None and entry.fresh_until_ms <= now_ms:
            self._refresh_in_background(owned)
        return entry.clip

    def is_silent(self, account: str, source: Source) -> bool:
        """Return whether an account has a cached clip of which nothing is heard."""
        entry = self._index.get(OwnedSource(account, source))
        return entry is not None and entry.is_silent

    async def fetch(self, account: str, source: Source) -> Clip:
        """Return a source's clip; make it if needed, once for all callers. Raises MediaError."""
        owned = OwnedSource(account, source)
        if clip := self._cached(owned):
            self.hits += 1
            return clip
        self.misses += 1
        self._raise_recent_failure(owned)
        making = self._start_making(owned, is_urgent=True)
        self._demand.waiting[owned] += 1
        try:
            # Shielded: one cancelled caller must not cancel the others' clip.
            return await asyncio.shield(making)
        finally:
            self._demand.waiting[owned] -= 1
            self._cancel_unless_needed(owned)

    def prefetch(self, account: str, sources: Iterable[Source], call_id: str) -> None:
        """Make clips for a call in the background; failures are stored, and `fetch` raises them."""
        for source in sources:
            owned = OwnedSource(account, source)
            if self._cached(owned) is None and owned not in self._failed:
                self._refresh_in_background(owned, call_id)

    def release(self, call_id: str) -> None:
        """Cancel what is made in the background for a call that has ended, and for no other."""
        for owned in self._demand.remove_call(call_id):
            self._cancel_unless_needed(owned)

    @property
    def pending(self) -> int:
        """The number of clips that are being made or queued."""
        return len({*self._tasks, *self._background})

    @property
    def size(self) -> tuple[int, int]:
        """How many clip files there are, and their bytes."""
        return self._files.count, self._files.total_bytes

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

    async def erase(self, account: str, is_named: Callable[[str], bool]) -> int:
        """Drop an account's speech, and audio whose address names a person; return how many.

        All speech, as a text may be about a person without the name; it is made again when it
        is next used. The files are removed when they have not been fetched for a minute. What is
        being made is played to those who wait, and not stored.
        """
        making = (each.source for each in self._tasks if each.account == account)
        sources = {*self._index.sources_of(account), *making}
        found = await asyncio.to_thread(_sources_about, sources, is_named)
        for owned in (OwnedSource(account, source) for source in found):
            self._index.drop(owned)
            if task := self._tasks.get(owned):
                self._erased.add(task)
            elif queued := self._background.get(owned):
                queued.cancel()
        self._failed = {each: f for each, f in self._failed.items() if each.account != account}
        self._files.expect_erased()
        self.index_changed.set()
        return len(found)

    async def close(self) -> None:
        """Cancel the clips being made and stop the processes."""
        await cancel_all([*self._background.values(), *self._tasks.values()])
        await self._maker.close()

    def _cancel_unless_needed(self, owned: OwnedSource) -> None:
        if self._demand.is_needed(owned):
            return
        # Removed at once: who asks again meanwhile must not get a task that ends.
        self._demand.remove_source(owned)
        for task in (self._background.pop(owned, None), self._tasks.pop(owned, None)):
            if task is not None:
                task.cancel()

    def _start_making(self, owned: OwnedSource, *, is_urgent: bool) -> asyncio.Task[Clip]:
        task = self._tasks.get(owned)
        if task is not None and is_urgent:
            self._urgency[task].rise()
        if task is None:
            urgency = Urgency(is_urgent)
            task = self._tasks[owned] = asyncio.create_task(self._make(owned, urgency))
            self._urgency[task] = urgency
            task.add_done_callback(lambda done: self._on_made(owned, done))
        return task

    def _on_made(self, owned: OwnedSource, done: asyncio.Task[Clip]) -> None:
        if self._tasks.get(owned) is done:
            del self._tasks[owned]
        if not done.cancelled():
            done.exception()  # retrieve it: all callers may be cancelled; `_failed` has it

    async def _make(self, owned: OwnedSource, urgency: Urgency) -> Clip:
        URGENCY.set(urgency)
        entry = self._index.get(owned)
        try:
            made = await self._maker.make(owned, entry.etag if entry else "", self._now_ms())
        except MediaError as failure:
            if not self._is_erased():
                self._store_failure(owned, entry, failure)
            raise
        return self._store(owned, entry, made)

    def _is_erased(self) -> bool:
        """Return whether the source that this task makes was erased meanwhile."""
        return asyncio.current_task() in self._erased

    def _store(self, owned: OwnedSource, before: IndexEntry | None, made: MadeClip) -> Clip:
        clip = made.clip or (before.clip if before else None)
        if clip is None:
            raise MediaError("http_status", "'not modified' without a cached clip")
        if self._is_erased():
            self._files.expect_erased()
            return clip
        is_silent = made.is_silent if made.clip or before is None else before.is_silent
        until_ms = None if made.fresh_ms is None else self._now_ms() + made.fresh_ms
        self._index.put(IndexEntry(owned, clip, until_ms, made.etag, made.provider, is_silent))
        self._failed.pop(owned, None)
        self.index_changed.set()
        return clip

    def _store_failure(
        self, owned: OwnedSource, before: IndexEntry | None, failure: MediaError
    ) -> None:
        now_ms = self._now_ms()
        if before is not None and failure.reason != _NOT_FOUND:
            # The old clip is better than none; the URL is retried later.
            self._index.put(replace(before, fresh_until_ms=now_ms + self._limits.retry_ms))
            return
        self._index.drop(owned)
        self._failed = {s: f for s, f in self._failed.items() if f[0] > now_ms}
        self._failed[owned] = (now_ms + self._limits.retry_ms, failure)

    def _raise_recent_failure(self, owned: OwnedSource) -> None:
        until_ms, failure = self._failed.get(owned, (0, None))
        if failure is not None and until_ms > self._now_ms():
            raise MediaError(failure.reason, failure.text)

    def _refresh_in_background(self, owned: OwnedSource, call_id: str = "") -> None:
        """Make a clip for a call; without one, for calls to come."""
        limits, account = self._limits, owned.account
        if owned in self._background:
            self._demand.add(owned, call_id)
        if (
            owned in self._background
            or len(self._background) >= limits.prefetch_waiting
            or self._waiting[account] >= limits.prefetch_waiting_of_account
        ):
            return
        self._demand.add(owned, call_id)
        task = self._background[owned] = asyncio.create_task(self._run_in_background(owned))
        self._waiting[account] += 1
        task.add_done_callback(lambda done: self._on_background_done(owned, done))

    def _on_background_done(self, owned: OwnedSource, done: asyncio.Task[None]) -> None:
        if self._background.get(owned) is done:
            del self._background[owned]
            self._demand.remove_source(owned)
        self._waiting.subtract((owned.account,))
        self._waiting += Counter()  # without those that have none

    async def _run_in_background(self, owned: OwnedSource) -> None:
        async with self._background_slots.slot(owned.account):
            await asyncio.wait([self._start_making(owned, is_urgent=False)])


def _sources_about(
    sources: Iterable[Source], is_named: Callable[[str], bool]
) -> tuple[Source, ...]:
    """Return speech, and audio whose address names a person."""
    return tuple(
        each
        for each in sources
        if isinstance(each, Speech) or (isinstance(each, Audio) and is_named(each.url))
    )


class ClipDemand:
    """The need for each source; a call without an id stands for calls to come."""

    def __init__(self) -> None:
        self.waiting: Counter[OwnedSource] = Counter()  # callers of `fetch`
        self._calls: dict[OwnedSource, set[str]] = {}
        self._sources: dict[str, set[OwnedSource]] = {}

    def add(self, owned: OwnedSource, call_id: str) -> None:
        """Note that a call will play a source."""
        self._calls.setdefault(owned, set()).add(call_id)
        self._sources.setdefault(call_id, set()).add(owned)

    def remove_source(self, owned: OwnedSource) -> None:
        """Forget which calls will play a source: it is made, or was given up."""
        for call_id in self._calls.pop(owned, ()):
            self._sources[call_id].discard(owned)
            if not self._sources[call_id]:
                del self._sources[call_id]

    def remove_call(self, call_id: str) -> set[OwnedSource]:
        """Forget a call; returns the sources that it would have played."""
        sources = self._sources.pop(call_id, set())
        for owned in sources:
            self._calls[owned].discard(call_id)
        return sources

    def is_needed(self, owned: OwnedSource) -> bool:
        """Return whether a caller waits for a source, or a call will play it."""
        if not self.waiting[owned]:
            del self.waiting[owned]
        return owned in self.waiting or bool(self._calls.get(owned))
