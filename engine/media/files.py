"""The directory of clips: named by content, evicted by last use, found again after a restart."""

import asyncio
import hashlib
import secrets
from collections.abc import Mapping
from pathlib import Path

from engine.media.clip import Clip, MediaLimits, duration_ms

_PART_PREFIX = "part-"


class _ClipFile:
    """A clip's file: its size, and when it was last used."""

    __slots__ = ("size_bytes", "used_ms")

    def __init__(self, size_bytes: int, used_ms: int) -> None:
        self.size_bytes = size_bytes
        self.used_ms = used_ms


class ClipFiles:
    """The clips' files of one engine; the directory is its own, shared with no other process."""

    def __init__(self, directory: Path, limits: MediaLimits) -> None:
        self._directory = directory
        self._limits = limits
        self._kept: dict[str, _ClipFile] = {}
        self._moving = asyncio.Lock()  # a clip made anew is not unlinked as the evicted one
        self.total_bytes = 0

    def load(self, used_ms: Mapping[str, int]) -> None:
        """Find the files on disk (blocking) and clear up unfinished ones, given each last use."""
        self._directory.mkdir(parents=True, exist_ok=True)
        for file in self._directory.iterdir():
            if file.name.startswith(_PART_PREFIX):
                file.unlink()
            elif file.suffix == ".wav":
                found = file.stat()
                self._add(
                    file.stem, found.st_size, used_ms.get(file.stem, int(found.st_mtime * 1000))
                )

    def part(self) -> Path:
        """Name a new unfinished file."""
        return self._directory / f"{_PART_PREFIX}{secrets.token_hex(8)}"

    async def keep(self, part: Path, now_ms: int) -> Clip:
        """Take a finished clip's file in under its content's name."""
        async with self._moving:
            key, size_bytes = await asyncio.to_thread(self._rename, part)
            self._add(key, size_bytes, now_ms)
        return Clip(key, duration_ms(size_bytes))

    def use(self, key: str, now_ms: int) -> None:
        """Note that a clip is being used; a clip that is gone is passed over."""
        if kept := self._kept.get(key):
            kept.used_ms = now_ms

    def path(self, key: str) -> Path | None:
        """Where a clip lies, or None."""
        return self._path(key) if key in self._kept else None

    def forget(self, key: str) -> None:
        """Strike a clip whose file somebody removed."""
        if kept := self._kept.pop(key, None):
            self.total_bytes -= kept.size_bytes

    def used_ms(self) -> dict[str, int]:
        """Tell each clip's last use, to be kept with the index."""
        return {key: kept.used_ms for key, kept in self._kept.items()}

    async def evict(self, now_ms: int) -> set[str]:
        """Drop the clips longest unused until the rest fit, but none of the last hour."""
        if self.total_bytes <= self._limits.cache_bytes:
            return set()
        async with self._moving:
            gone = self._surplus(now_ms - self._limits.in_use_ms)
            await asyncio.to_thread(self._unlink, gone)
        return gone

    def _surplus(self, idle_since_ms: int) -> set[str]:
        idle = {k: v.used_ms for k, v in self._kept.items() if v.used_ms < idle_since_ms}
        gone = set()
        for key in sorted(idle, key=idle.__getitem__):
            if self.total_bytes <= self._limits.cache_bytes:
                break
            self.total_bytes -= self._kept.pop(key).size_bytes
            gone.add(key)
        return gone

    def _add(self, key: str, size_bytes: int, used_ms: int) -> None:
        if key not in self._kept:
            self.total_bytes += size_bytes
        self._kept[key] = _ClipFile(size_bytes, used_ms)

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
        return self._directory / f"{key}.wav"
