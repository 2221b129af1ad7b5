"""Open a library: what was kept is known at once, and is looked after while the engine runs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec
import structlog
from aiohttp import ClientSession

from engine.media.clip import MediaLimits
from engine.media.clip_cache import ClipCache
from engine.media.clip_maker import ClipMaker, MeteredClipMaker
from engine.media.files import ClipFiles
from engine.media.index import ClipIndex, IndexEntry, SavedIndex, load_index, save_index
from engine.media.tts.provider import TtsProvider
from engine.observe.metrics import Meter
from wire.media import Speech

_MIN_INTERVAL_S = 1.0
_MAX_INTERVAL_S = 60.0
_LIMITS = MediaLimits()
_log = structlog.get_logger()


@asynccontextmanager
async def open_clip_cache(  # noqa: PLR0913 - collaborators are passed in
    directory: Path,
    session: ClientSession,
    speakers: Sequence[TtsProvider],
    now_ms: Callable[[], int],
    limits: MediaLimits = _LIMITS,
    *,
    meter: Meter | None = None,
) -> AsyncIterator[ClipCache]:
    """Open the library in `directory`, this engine's own; the session is a guarded one."""
    shelf, index = ClipFiles(directory, limits), ClipIndex(limits.cache_sources)
    studio = ClipMaker(shelf, session, speakers, limits)
    await asyncio.to_thread(_restore, directory, shelf, index, studio)
    library = ClipCache(shelf, index, MeteredClipMaker(studio, meter or Meter()), now_ms, limits)
    keeper = _Maintenance(directory, shelf, index, now_ms)
    task = asyncio.create_task(keeper.run(library.changed))
    try:
        yield library
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await library.close()
        await keeper.save()


def _restore(directory: Path, shelf: ClipFiles, index: ClipIndex, studio: ClipMaker) -> None:
    saved = load_index(_index_file(directory))
    shelf.load(saved.used_ms)
    for entry in saved.entries:
        if shelf.path(entry.clip.key):
            index.put(_with_freshness(entry, studio))


def _with_freshness(entry: IndexEntry, studio: ClipMaker) -> IndexEntry:
    """Let a text that another speaker would now speak be spoken anew at its next use."""
    source = entry.source
    if isinstance(source, Speech) and studio.first_speaker(source) != entry.speaker:
        return msgspec.structs.replace(entry, fresh_until_ms=0)
    return entry


class _Maintenance:
    """Saves the index soon after a change, and keeps the directory within its size."""

    def __init__(
        self, directory: Path, shelf: ClipFiles, index: ClipIndex, now_ms: Callable[[], int]
    ) -> None:
        self._directory = directory
        self._shelf = shelf
        self._index = index
        self._now_ms = now_ms

    async def run(self, changed: asyncio.Event) -> None:
        """Work for ever: at a change, though at most once a second, and each minute."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_MAX_INTERVAL_S):
                    await changed.wait()
            changed.clear()
            await self._evict()
            await self.save()
            await asyncio.sleep(_MIN_INTERVAL_S)

    async def _evict(self) -> None:
        try:
            self._index.drop_clips(await self._shelf.evict(self._now_ms()))
        except OSError as error:
            _log.warning("media_not_evicted", error=str(error))

    async def save(self) -> None:
        """Write the index; a full disk costs only the next start's knowledge."""
        saved = SavedIndex(self._index.entries(), self._shelf.used_ms())
        try:
            await asyncio.to_thread(save_index, _index_file(self._directory), saved)
        except OSError as error:
            _log.warning("media_index_not_saved", error=str(error))


def _index_file(directory: Path) -> Path:
    return directory / "index.json"
