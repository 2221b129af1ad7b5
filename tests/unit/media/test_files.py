"""The directory of clips: content names, eviction, restart."""

from pathlib import Path

from engine.media.clip import Clip, MediaLimits
from engine.media.files import ClipFiles

HOUR_MS = 3_600_000
LIMITS = MediaLimits(cache_bytes=4000)


def open_files(directory: Path, used_ms: dict[str, int] | None = None) -> ClipFiles:
    """Open a directory of at most 4,000 bytes."""
    files = ClipFiles(directory, LIMITS)
    files.load(used_ms or {})
    return files


def names(directory: Path) -> set[str]:
    """Return the file names of a directory."""
    return {file.stem for file in directory.iterdir()}


async def put(files: ClipFiles, fill: bytes, now_ms: int) -> Clip:
    """Add a clip of 100 ms, 1,644 bytes."""
    part = files.new_part()
    part.write_bytes(bytes(44) + fill * 1600)
    return await files.add(part, now_ms)


async def test_named_by_content(tmp_path: Path) -> None:
    """The same content has one file; its duration follows from its size."""
    files = open_files(tmp_path)
    first, second = await put(files, b"a", 1), await put(files, b"a", 2)
    assert first == second
    assert first.duration_ms == 100
    assert files.total_bytes == 1644
    assert names(tmp_path) == {first.key}


async def test_least_recently_used_is_evicted(tmp_path: Path) -> None:
    """Beyond the size limit the least recently used clips are evicted until the rest fit."""
    files = open_files(tmp_path)
    one, two, three = [await put(files, fill, 0) for fill in (b"a", b"b", b"c")]
    files.mark_used(one.key, 10)
    files.mark_used(two.key, 5)
    files.mark_used(three.key, 20)
    assert await files.evict(2 * HOUR_MS, files.used_ms().keys) == {two.key}
    assert names(tmp_path) == {one.key, three.key}
    assert files.path(two.key) is None


async def test_recently_used_is_kept(tmp_path: Path) -> None:
    """A clip used in the last hour is kept, even beyond the size limit."""
    files = open_files(tmp_path)
    for fill in (b"a", b"b", b"c"):
        await put(files, fill, HOUR_MS)
    assert await files.evict(2 * HOUR_MS, files.used_ms().keys) == set()


async def test_clips_without_a_source_go_first(tmp_path: Path) -> None:
    """Those that a new source has displaced, after a minute in which they are still fetched."""
    files = open_files(tmp_path)
    one, two, three = [await put(files, fill, HOUR_MS) for fill in (b"a", b"b", b"c")]
    files.mark_used(two.key, HOUR_MS - 1)
    indexed = {two.key, three.key}
    assert await files.evict(HOUR_MS + LIMITS.dropped_ms, lambda: indexed) == set()
    assert await files.evict(HOUR_MS + LIMITS.dropped_ms + 1, lambda: indexed) == {one.key}


async def test_erased_clips_are_removed_although_there_is_room(tmp_path: Path) -> None:
    """When they have not been fetched for a minute; also those of the process before."""
    files = open_files(tmp_path)
    one, two = [await put(files, fill, HOUR_MS) for fill in (b"a", b"b")]
    assert await files.evict(HOUR_MS, files.used_ms().keys) == set()
    files.expect_erased()
    indexed = {two.key}
    soon_ms = HOUR_MS + LIMITS.dropped_ms
    assert await files.evict(soon_ms, lambda: indexed) == set()
    again = open_files(tmp_path, files.used_ms())
    for each in (files, again):
        assert await each.evict(soon_ms + 1, lambda: indexed) == {one.key}
    assert names(tmp_path) == {two.key}
    assert await files.evict(3 * HOUR_MS, set) == set()  # displaced, not erased


async def test_restart(tmp_path: Path) -> None:
    """A restart loads the files and their last use, and removes unfinished ones."""
    before = open_files(tmp_path)
    one, two, three = [await put(before, fill, 0) for fill in (b"a", b"b", b"c")]
    before.new_part().write_bytes(b"half")
    after = open_files(tmp_path, {one.key: 30, two.key: 10, three.key: 20})
    assert after.total_bytes == 3 * 1644
    assert after.path(one.key) == tmp_path / f"{one.key}.wav"
    assert names(tmp_path) == {one.key, two.key, three.key}
    assert await after.evict(2 * HOUR_MS, after.used_ms().keys) == {two.key}
