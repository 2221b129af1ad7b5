"""Maps accounts' sources to clips: in memory for the hot path, on disk for the next start."""

from collections import OrderedDict
from pathlib import Path

import msgspec
from msgspec import Struct

from engine.media.clip import Clip, OwnedSource


class IndexEntry(Struct, frozen=True, rename={"provider": "speaker"}):  # stored files have it
    """A source's clip, its TTS provider, its ETag, and when it expires (None: never)."""

    owned: OwnedSource
    clip: Clip
    fresh_until_ms: int | None = None
    etag: str = ""
    provider: str = ""


class SavedIndex(Struct, frozen=True):
    """The stored index: entries by last use, oldest first, and each clip's last use."""

    entries: tuple[IndexEntry, ...] = ()
    used_ms: dict[str, int] = {}


class ClipIndex:
    """An LRU map of sources, with at most `limit` entries."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: OrderedDict[OwnedSource, IndexEntry] = OrderedDict()

    def get(self, owned: OwnedSource) -> IndexEntry | None:
        """Return a source's entry and mark it as used."""
        entry = self._entries.get(owned)
        if entry is not None:
            self._entries.move_to_end(owned)
        return entry

    def put(self, entry: IndexEntry) -> None:
        """Add an entry; beyond the limit, drop the least recently used one."""
        self._entries[entry.owned] = entry
        self._entries.move_to_end(entry.owned)
        if len(self._entries) > self._limit:
            self._entries.popitem(last=False)

    def drop(self, owned: OwnedSource) -> None:
        self._entries.pop(owned, None)

    def drop_clips(self, keys: set[str]) -> None:
        """Drop the sources of these clips."""
        for entry in [e for e in self._entries.values() if e.clip.key in keys]:
            del self._entries[entry.owned]

    def entries(self) -> tuple[IndexEntry, ...]:
        """Return all entries, oldest use first."""
        return tuple(self._entries.values())


def load_index(file: Path) -> SavedIndex:
    """Read the index (blocking); a missing or damaged file is an empty index."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=SavedIndex)
    except (FileNotFoundError, msgspec.DecodeError):
        return SavedIndex()


def save_index(file: Path, saved: SavedIndex) -> None:
    """Write the index atomically (blocking)."""
    part = file.with_suffix(".part")
    part.write_bytes(msgspec.json.encode(saved))
    part.replace(file)
