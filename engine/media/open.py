"""Open a library: what was kept is known at once, and is looked after while the engine runs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec
import structlog
from aiohttp import ClientSession

from engine.media.clip import Limits
from engine.media.clip_cache import Library
from engine.media.clip_maker import MeteredMaker, Studio
from engine.media.files import Shelf
from engine.media.index import Entry, Index, Saved, load, save
from engine.media.tts.provider import Speaker
from engine.observe.metrics import Meter
from wire.media import Speech

_PAUSE_S = 1.0
_ROUND_S = 60.0
_LIMITS = Limits()
_log = structlog.get_logger()


@asynccontextmanager
async def opened(  # noqa: PLR0913 - collaborators are passed in
    directory: Path,
    session: ClientSession,
    speakers: Sequence[Speaker],
    now_ms: Callable[[], int],
    limits: Limits = _LIMITS,
    *,
    meter: Meter | None = None,
) -> AsyncIterator[Library]:
    """Open the library in `directory`, this engine's own; the session is a guarded one."""
    shelf, index = Shelf(directory, limits), Index(limits.cache_sources)
    studio = Studio(shelf, session, speakers, limits)
    await asyncio.to_thread(_restore, directory, shelf, index, studio)
    library = Library(shelf, index, MeteredMaker(studio, meter or Meter()), now_ms, limits)
    keeper = _Keeper(directory, shelf, index, now_ms)
    task = asyncio.create_task(keeper.run(library.changed))
    try:
        yield library
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await library.close()
        await keeper.save()


def _restore(directory: Path, shelf: Shelf, index: Index, studio: Studio) -> None:
    saved = load(_file(directory))
    shelf.load(saved.used_ms)
    for entry in saved.entries:
        if shelf.path(entry.clip.key):
            index.put(_rechecked(entry, studio))


def _rechecked(entry: Entry, studio: Studio) -> Entry:
    """Let a text that another speaker would now speak be spoken anew at its next use."""
    source = entry.source
    if isinstance(source, Speech) and studio.first_speaker(source) != entry.speaker:
        return msgspec.structs.replace(entry, fresh_until_ms=0)
    return entry


class _Keeper:
    """Saves the index soon after a change, and keeps the directory within its size."""

    def __init__(
        self, directory: Path, shelf: Shelf, index: Index, now_ms: Callable[[], int]
    ) -> None:
        self._directory = directory
        self._shelf = shelf
        self._index = index
        self._now_ms = now_ms

    async def run(self, changed: asyncio.Event) -> None:
        """Work for ever: at a change, though at most once a second, and each minute."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_ROUND_S):
                    await changed.wait()
            changed.clear()
            await self._evict()
            await self.save()
            await asyncio.sleep(_PAUSE_S)

    async def _evict(self) -> None:
        try:
            self._index.drop_clips(await self._shelf.evict(self._now_ms()))
        except OSError as error:
            _log.warning("media_not_evicted", error=str(error))

    async def save(self) -> None:
        """Write the index; a full disk costs only the next start's knowledge."""
        saved = Saved(self._index.entries(), self._shelf.used_ms())
        try:
            await asyncio.to_thread(save, _file(self._directory), saved)
        except OSError as error:
            _log.warning("media_index_not_saved", error=str(error))


def _file(directory: Path) -> Path:
    return directory / "index.json"
