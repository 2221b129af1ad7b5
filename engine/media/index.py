"""Maps accounts' sources to clips: in memory for the hot path, on disk for the next start."""

from collections import OrderedDict
from pathlib import Path

import msgspec
from msgspec import Struct

from engine.media.clip import Clip, OwnedSource, file_bytes
from wire.media import Source


class IndexEntry(Struct, frozen=True, rename={"provider": "speaker"}):  # stored files have it
    """A source's clip, its TTS provider, its ETag, and when it expires (None: never).

    `is_silent`: nothing is heard of it.
    """

    owned: OwnedSource
    clip: Clip
    fresh_until_ms: int | None = None
    etag: str = ""
    provider: str = ""
    is_silent: bool = False


class SavedIndex(Struct, frozen=True):
    """The stored index: entries by last use, oldest first, and each clip's last use."""

    entries: tuple[IndexEntry, ...] = ()
    used_ms: dict[str, int] = {}


class _AccountShare:
    """The entries of one account, by last use, and the bytes of their clips."""

    def __init__(self) -> None:
        self.entries: OrderedDict[OwnedSource, IndexEntry] = OrderedDict()
        self.clip_bytes = 0


class ClipIndex:
    """An LRU map of sources, with at most `limit` entries and `max_bytes` of clips.

    Beyond either, the account that has the most of that loses what it used least recently.
    """

    def __init__(self, limit: int, max_bytes: int) -> None:
        self._limit = limit
        self._max_bytes = max_bytes
        self._clip_bytes = 0
        self._entries: OrderedDict[OwnedSource, IndexEntry] = OrderedDict()
        self._shares: dict[str, _AccountShare] = {}

    def get(self, owned: OwnedSource) -> IndexEntry | None:
        """Return a source's entry and mark it as used."""
        entry = self._entries.get(owned)
        if entry is not None:
            self._entries.move_to_end(owned)
            self._shares[owned.account].entries.move_to_end(owned)
        return entry

    def put(self, entry: IndexEntry) -> None:
        """Add an entry; beyond a limit, drop the least recently used ones."""
        owned = entry.owned
        self.drop(owned)
        self._entries[owned] = entry
        share = self._shares.setdefault(owned.account, _AccountShare())
        share.entries[owned] = entry
        self._count(share, file_bytes(entry.clip))
        if len(self._entries) > self._limit:
            self._drop_oldest_of(max(self._shares.values(), key=lambda each: len(each.entries)))
        while self._clip_bytes > self._max_bytes:
            largest = max(self._shares.values(), key=lambda each: each.clip_bytes)
            if len(largest.entries) == 1:  # a clip that was made is played
                break
            self._drop_oldest_of(largest)

    def drop(self, owned: OwnedSource) -> None:
        entry = self._entries.pop(owned, None)
        if entry is None:
            return
        share = self._shares[owned.account]
        del share.entries[owned]
        self._count(share, -file_bytes(entry.clip))
        if not share.entries:
            del self._shares[owned.account]

    def sources_of(self, account: str) -> tuple[Source, ...]:
        """Return the sources of an account's clips."""
        share = self._shares.get(account)
        return tuple(owned.source for owned in share.entries) if share else ()

    def _drop_oldest_of(self, share: _AccountShare) -> None:
        self.drop(next(iter(share.entries)))

    def _count(self, share: _AccountShare, clip_bytes: int) -> None:
        share.clip_bytes += clip_bytes
        self._clip_bytes += clip_bytes

    def drop_clips(self, keys: set[str]) -> None:
        """Drop the sources of these clips."""
        for entry in [e for e in self._entries.values() if e.clip.key in keys]:
            self.drop(entry.owned)

    def clip_keys(self) -> set[str]:
        """Return the keys of all clips that an entry has."""
        return {entry.clip.key for entry in self._entries.values()}

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
    """Write the index atomically (blocking), without entries that no file can have."""
    part = file.with_suffix(".part")
    try:
        body = msgspec.json.encode(saved)
    except UnicodeEncodeError:
        entries = tuple(filter(_is_storable, saved.entries))
        body = msgspec.json.encode(msgspec.structs.replace(saved, entries=entries))
    part.write_bytes(body)
    part.replace(file)


def _is_storable(entry: IndexEntry) -> bool:
    """Return whether JSON can have an entry: not with half of a surrogate pair."""
    try:
        msgspec.json.encode(entry)
    except UnicodeEncodeError:
        return False
    return True
