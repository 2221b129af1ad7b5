"""The directory of clips: content names, eviction, restart."""

from pathlib import Path

from engine.media.clip import Clip, MediaLimits
from engine.media.files import ClipFiles

HOUR_MS = 3_600_000
LIMITS = MediaLimits(cache_bytes=4000)


def shelf_in(directory: Path, used_ms: dict[str, int] | None = None) -> ClipFiles:
    """Open a shelf of 4,000 bytes."""
    shelf = ClipFiles(directory, LIMITS)
    shelf.load(used_ms or {})
    return shelf


def names(directory: Path) -> set[str]:
    """List what lies in a directory."""
    return {file.stem for file in directory.iterdir()}


async def put(shelf: ClipFiles, fill: bytes, now_ms: int) -> Clip:
    """Keep a clip of 100 ms, 1,644 bytes."""
    part = shelf.part()
    part.write_bytes(bytes(44) + fill * 1600)
    return await shelf.keep(part, now_ms)


async def test_named_by_content(tmp_path: Path) -> None:
    """The same content has one file, whoever brings it; its length is told by its size."""
    shelf = shelf_in(tmp_path)
    first, second = await put(shelf, b"a", 1), await put(shelf, b"a", 2)
    assert first == second
    assert first.duration_ms == 100
    assert shelf.total_bytes == 1644
    assert names(tmp_path) == {first.key}


async def test_longest_unused_goes(tmp_path: Path) -> None:
    """Beyond the size the clip longest unused goes, until the rest fit."""
    shelf = shelf_in(tmp_path)
    one, two, three = [await put(shelf, fill, 0) for fill in (b"a", b"b", b"c")]
    shelf.use(one.key, 10)
    shelf.use(two.key, 5)
    shelf.use(three.key, 20)
    assert await shelf.evict(2 * HOUR_MS) == {two.key}
    assert names(tmp_path) == {one.key, three.key}
    assert shelf.path(two.key) is None


async def test_used_lately_stays(tmp_path: Path) -> None:
    """A clip used in the last hour stays, however full the shelf."""
    shelf = shelf_in(tmp_path)
    for fill in (b"a", b"b", b"c"):
        await put(shelf, fill, HOUR_MS)
    assert await shelf.evict(2 * HOUR_MS) == set()


async def test_restart(tmp_path: Path) -> None:
    """A new shelf finds the files, their last use, and clears up what was not finished."""
    before = shelf_in(tmp_path)
    one, two, three = [await put(before, fill, 0) for fill in (b"a", b"b", b"c")]
    before.part().write_bytes(b"half")
    after = shelf_in(tmp_path, {one.key: 30, two.key: 10, three.key: 20})
    assert after.total_bytes == 3 * 1644
    assert after.path(one.key) == tmp_path / f"{one.key}.wav"
    assert names(tmp_path) == {one.key, two.key, three.key}
    assert await after.evict(2 * HOUR_MS) == {two.key}
