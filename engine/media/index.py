"""Which source gave which clip: in memory for the hot path, on disk for the next start."""

from collections import OrderedDict
from pathlib import Path

import msgspec
from msgspec import Struct

from engine.media.clip import Clip
from wire.media import Source


class IndexEntry(Struct, frozen=True):
    """A source's clip, who spoke it, its ETag, and until when it is fresh (None: always)."""

    source: Source
    clip: Clip
    fresh_until_ms: int | None = None
    etag: str = ""
    speaker: str = ""


class SavedIndex(Struct, frozen=True):
    """The index as it lies on disk, oldest use first, with each clip's last use."""

    entries: tuple[IndexEntry, ...] = ()
    used_ms: dict[str, int] = {}


class ClipIndex:
    """Sources in the order of use, at most `limit` of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: OrderedDict[Source, IndexEntry] = OrderedDict()

    def get(self, source: Source) -> IndexEntry | None:
        """Look a source up."""
        entry = self._entries.get(source)
        if entry is not None:
            self._entries.move_to_end(source)
        return entry

    def put(self, entry: IndexEntry) -> None:
        """Remember a source's clip; of too many, forget the one longest unused."""
        self._entries[entry.source] = entry
        self._entries.move_to_end(entry.source)
        if len(self._entries) > self._limit:
            self._entries.popitem(last=False)

    def drop(self, source: Source) -> None:
        """Forget a source."""
        self._entries.pop(source, None)

    def drop_clips(self, keys: set[str]) -> None:
        """Forget the sources whose clips are gone."""
        for entry in [e for e in self._entries.values() if e.clip.key in keys]:
            del self._entries[entry.source]

    def entries(self) -> tuple[IndexEntry, ...]:
        """All entries, oldest use first."""
        return tuple(self._entries.values())


def load_index(file: Path) -> SavedIndex:
    """Read the index (blocking); one that is missing or damaged is an empty one."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=SavedIndex)
    except (FileNotFoundError, msgspec.DecodeError):
        return SavedIndex()


def save_index(file: Path, saved: SavedIndex) -> None:
    """Write the index (blocking) so that a crash leaves either the old one or the new one."""
    part = file.with_suffix(".part")
    part.write_bytes(msgspec.json.encode(saved))
    part.replace(file)
