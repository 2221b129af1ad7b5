"""The directory of clip files: named by content, evicted by last use, reloaded after a restart."""

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from engine.media.clip import Clip, MediaLimits, duration_ms

_PART_PREFIX = "part-"


class _ClipFile(Struct):
    size_bytes: int
    used_ms: int  # last use


class ClipFiles:
    """The clip files of one engine; no other process uses the directory."""

    def __init__(self, directory: Path, limits: MediaLimits) -> None:
        self.directory = directory
        self._limits = limits
        self._clips: dict[str, _ClipFile] = {}
        self._lock = asyncio.Lock()  # an eviction must not unlink a clip that is added again
        self._has_erased = True  # what a process before this one has not removed
        self.total_bytes = 0

    def load(self, used_ms: Mapping[str, int]) -> None:
        """Load the files on disk (blocking), with their last uses; remove unfinished ones."""
        self.directory.mkdir(parents=True, exist_ok=True)
        for file in self.directory.iterdir():
            if file.name.startswith(_PART_PREFIX):
                file.unlink()
            elif file.suffix == ".wav":
                stat = file.stat()
                self._add(
                    file.stem, stat.st_size, used_ms.get(file.stem, int(stat.st_mtime * 1000))
                )

    @property
    def count(self) -> int:
        return len(self._clips)

    def new_part(self) -> Path:
        """Return a new path for an unfinished file."""
        return self.directory / f"{_PART_PREFIX}{secrets.token_hex(8)}"

    async def add(self, part: Path, now_ms: int) -> Clip:
        """Rename a finished file after its content and return the clip."""
        async with self._lock:
            key, size_bytes = await asyncio.to_thread(self._rename, part)
            self._add(key, size_bytes, now_ms)
        return Clip(key, duration_ms(size_bytes))

    def mark_used(self, key: str, now_ms: int) -> None:
        """Set a clip's last use; do nothing if the clip is missing."""
        if clip := self._clips.get(key):
            clip.used_ms = now_ms

    def path(self, key: str) -> Path | None:
        return self._path(key) if key in self._clips else None

    def forget(self, key: str) -> None:
        """Drop a clip whose file is missing."""
        if clip := self._clips.pop(key, None):
            self.total_bytes -= clip.size_bytes

    def expect_erased(self) -> None:
        """Let the next evictions remove all clips without a source, also if there is room."""
        self._has_erased = True

    def used_ms(self) -> dict[str, int]:
        """Return each clip's last use, which is stored with the index."""
        return {key: clip.used_ms for key, clip in self._clips.items()}

    async def evict(self, now_ms: int, indexed: Callable[[], Iterable[str]]) -> set[str]:
        """Remove clips until the rest fit, but none in use.

        First those that the index has no longer, then the least recently used ones. After an
        erasure the first ones do not stay, however few there are.
        """
        if self.total_bytes <= self._limits.cache_bytes and not self._has_erased:
            return set()
        async with self._lock:
            still_indexed = frozenset(indexed())
            removed = self._remove_surplus(now_ms, still_indexed)
            self._has_erased = self._has_erased and not self._clips.keys() <= still_indexed
            await asyncio.to_thread(self._unlink, removed)
        return removed

    def _remove_surplus(self, now_ms: int, indexed: frozenset[str]) -> set[str]:
        limits = self._limits
        idle_ms = {True: now_ms - limits.in_use_ms, False: now_ms - limits.dropped_ms}
        idle = {
            key: (key in indexed, clip.used_ms)
            for key, clip in self._clips.items()
            if clip.used_ms < idle_ms[key in indexed]
        }
        removed = set()
        for key in sorted(idle, key=idle.__getitem__):
            has_room = self.total_bytes <= limits.cache_bytes
            if has_room and (key in indexed or not self._has_erased):
                break
            self.total_bytes -= self._clips.pop(key).size_bytes
            removed.add(key)
        return removed

    def _add(self, key: str, size_bytes: int, used_ms: int) -> None:
        if key not in self._clips:
            self.total_bytes += size_bytes
        self._clips[key] = _ClipFile(size_bytes, used_ms)

    def _rename(self, part: Path) -> tuple[str, int]:
        with part.open("rb") as file:
            key = hashlib.file_digest(file, "sha256").hexdigest()[:32]
            size_bytes = file.tell()
        part.replace(self._path(key))
        return key, size_bytes

    def _unlink(self, keys: set[str]) -> None:
        for key in keys:
            self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.directory / f"{key}.wav"
