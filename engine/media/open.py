"""Opens the clip cache: loads its index, and saves and evicts while the engine runs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import structlog
from msgspec import Struct

from base.tasks import cancel_all, wait_for_event
from engine.media.clip import MediaLimits
from engine.media.clip_cache import ClipCache
from engine.media.clip_maker import ClipMaker, MeteredClipMaker, SessionLookup
from engine.media.files import ClipFiles
from engine.media.index import ClipIndex, IndexEntry, SavedIndex, load_index, save_index
from engine.media.tts import TtsProvider
from engine.observe.metrics import Metrics
from wire.media import Speech

_MIN_INTERVAL_S = 1.0
_MAX_INTERVAL_S = 60.0
_LIMITS = MediaLimits()
_log = structlog.get_logger()


@asynccontextmanager
async def open_clip_cache(  # noqa: PLR0913 - collaborators are passed in
    directory: Path,
    session_of: SessionLookup,
    providers: Sequence[TtsProvider],
    now_ms: Callable[[], int],
    limits: MediaLimits = _LIMITS,
    *,
    meter: Metrics | None = None,
) -> AsyncIterator[ClipCache]:
    """Open the cache in `directory`, which no other process uses; sessions are guarded."""
    files, index = ClipFiles(directory, limits), _new_index(limits)
    maker = ClipMaker(files, session_of, providers, limits)
    await asyncio.to_thread(_restore, directory, files, index, maker)
    cache = ClipCache(files, index, MeteredClipMaker(maker, meter or Metrics()), now_ms, limits)
    maintenance = _Maintenance(directory, files, index, now_ms)
    task = asyncio.create_task(maintenance.run(cache.index_changed))
    try:
        yield cache
    finally:
        await cancel_all([task])
        await cache.close()
        await maintenance.save()


def _new_index(limits: MediaLimits) -> ClipIndex:
    return ClipIndex(limits.cache_sources, limits.cache_bytes)


def _restore(directory: Path, files: ClipFiles, index: ClipIndex, maker: ClipMaker) -> None:
    saved = load_index(_index_file(directory))
    files.load(saved.used_ms)
    for entry in saved.entries:
        if files.path(entry.clip.key):
            index.put(_with_freshness(entry, maker))


def _with_freshness(entry: IndexEntry, maker: ClipMaker) -> IndexEntry:
    """Expire speech whose preferred provider has changed, so that its next use makes it again."""
    source = entry.owned.source
    if isinstance(source, Speech) and maker.first_provider(source) != entry.provider:
        return msgspec.structs.replace(entry, fresh_until_ms=0)
    return entry


class _Maintenance(Struct, frozen=True):
    """Saves the index after changes, and keeps the directory within its size limit."""

    directory: Path
    files: ClipFiles
    index: ClipIndex
    now_ms: Callable[[], int]

    async def run(self, changed: asyncio.Event) -> None:
        """Run forever: after a change, at most once a second, and every minute."""
        while True:
            await wait_for_event(changed, _MAX_INTERVAL_S)
            changed.clear()
            try:
                await self._evict()
                await self.save()
            except Exception:  # noqa: BLE001 - it is logged, and the next run may succeed
                _log.exception("media maintenance failed")
            await asyncio.sleep(_MIN_INTERVAL_S)

    async def _evict(self) -> None:
        try:
            removed = await self.files.evict(self.now_ms(), self.index.clip_keys)
            self.index.drop_clips(removed)
        except OSError as error:
            _log.warning("media eviction failed", error=str(error))

    async def save(self) -> None:
        """Write the index; if that fails, only the next start loses it."""
        saved = SavedIndex(self.index.entries(), self.files.used_ms())
        try:
            await asyncio.to_thread(save_index, _index_file(self.directory), saved)
        except OSError as error:
            _log.warning("media index not saved", error=str(error))


def _index_file(directory: Path) -> Path:
    return directory / "index.json"
