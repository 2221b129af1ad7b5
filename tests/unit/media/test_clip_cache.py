"""The library: known at once, made once, renewed behind; with a twin of the studio."""

import asyncio
from pathlib import Path

import pytest

from engine.media.clip import MadeClip, MediaError
from tests.unit.media.twin import ONE, TWO, A, B, CacheBench
from wire.media import Audio


@pytest.fixture
def room(tmp_path: Path) -> CacheBench:
    """Give an empty library."""
    return CacheBench(tmp_path)


async def test_unknown_then_known(room: CacheBench) -> None:
    """A source is unknown until it was fetched, then known at once and not made again."""
    assert room.library.known(A) is None
    assert await room.library.fetch(A) == ONE
    assert room.library.known(A) == ONE
    assert await room.library.fetch(A) == ONE
    assert len(room.studio.asked) == 1


async def test_single_flight(room: CacheBench) -> None:
    """Many who wait have it made once, and one who gives up stops nobody."""
    room.studio.open.clear()
    waiters = [asyncio.create_task(room.library.fetch(A)) for _ in range(10)]
    await room.settled()
    waiters[0].cancel()
    await room.settled()
    room.studio.open.set()
    results = await asyncio.gather(*waiters, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert results[1:] == [ONE] * 9
    assert len(room.studio.asked) == 1


async def test_all_give_up(room: CacheBench) -> None:
    """A failure that nobody waits for any more is still remembered."""
    room.studio.open.clear()
    room.studio.gives[A] = MediaError("timeout", "late")
    waiter = asyncio.create_task(room.library.fetch(A))
    await room.settled()
    waiter.cancel()
    room.studio.open.set()
    await room.settled()
    with pytest.raises(MediaError, match="timeout"):
        await room.library.fetch(A)
    assert len(room.studio.asked) == 1


async def test_failure_remembered_for_a_while(room: CacheBench) -> None:
    """A bad address is not hammered: its failure holds for ten seconds."""
    room.studio.gives[A] = MediaError("not_found", "HTTP status 404")
    for _ in range(3):
        with pytest.raises(MediaError, match="not_found: HTTP status 404"):
            await room.library.fetch(A)
    assert len(room.studio.asked) == 1
    room.now_ms = 10_000
    room.studio.gives[A] = MadeClip(ONE, None)
    assert await room.library.fetch(A) == ONE


async def test_stale_is_played_and_renewed(room: CacheBench) -> None:
    """A stale clip is given at once; its address is asked behind, once, for the next caller."""
    room.studio.gives[A] = MadeClip(ONE, 1000, '"v1"')
    await room.library.fetch(A)
    room.now_ms = 1000
    room.studio.gives[A] = MadeClip(TWO, 1000, '"v2"')
    assert [room.library.known(A) for _ in range(3)] == [ONE] * 3
    await room.settled()
    assert room.library.known(A) == TWO
    assert room.studio.asked == [(A, ""), (A, '"v1"')]


async def test_not_modified(room: CacheBench) -> None:
    """An address that says 'not modified' makes the same clip fresh again."""
    room.studio.gives[A] = MadeClip(ONE, 1000, '"v1"')
    await room.library.fetch(A)
    room.studio.gives[A] = MadeClip(None, 1000, '"v1"')
    room.now_ms = 1500
    assert room.library.known(A) == ONE
    await room.settled()
    room.now_ms = 2499
    assert room.library.known(A) == ONE
    await room.settled()
    assert len(room.studio.asked) == 2


async def test_renewal_fails(room: CacheBench) -> None:
    """When a renewal fails the old clip plays on; the address is asked again ten seconds later."""
    room.studio.gives[A] = MadeClip(ONE, 1000)
    await room.library.fetch(A)
    room.studio.gives[A] = MediaError("http_status", "HTTP status 503")
    for now_ms, asked in ((1000, 2), (10_999, 2), (11_000, 3)):
        room.now_ms = now_ms
        assert room.library.known(A) == ONE
        await room.settled()
        assert len(room.studio.asked) == asked


async def test_removed_at_its_address(room: CacheBench) -> None:
    """A renewal that finds the audio gone makes the source unknown."""
    room.studio.gives[A] = MadeClip(ONE, 1000)
    await room.library.fetch(A)
    room.now_ms = 1000
    room.studio.gives[A] = MediaError("not_found", "HTTP status 410")
    assert room.library.known(A) == ONE
    await room.settled()
    assert room.library.known(A) is None


async def test_prefetch(room: CacheBench) -> None:
    """Prefetching makes clips a few at a time, drops what is too much, and swallows failures."""
    sources = [Audio(f"https://a.example/{n}") for n in range(9)]
    room.studio.gives[sources[1]] = MediaError("not_audio", "a page")
    room.studio.open.clear()
    room.library.prefetch(sources)
    await room.settled()
    room.studio.open.set()
    await room.settled()
    assert room.studio.busiest == 2
    assert [bool(room.library.known(s)) for s in sources] == [
        True,
        False,
        *[True] * 3,
        *[False] * 4,
    ]
    with pytest.raises(MediaError, match="not_audio"):
        await room.library.fetch(sources[1])


async def test_close(room: CacheBench) -> None:
    """Closing gives up what is being made."""
    room.studio.open.clear()
    room.library.prefetch([A, B])
    waiter = asyncio.create_task(room.library.fetch(A))
    await room.settled()
    await room.library.close()
    with pytest.raises(asyncio.CancelledError):
        await waiter


async def test_a_clip_that_is_being_made_is_waited_for(tmp_path: Path) -> None:
    """Its key is asked for before it is there: one that nobody makes is not waited for."""
    room = CacheBench(tmp_path)
    assert await room.library.coming(ONE.key) is None
    room.studio.open.clear()
    room.library.prefetch((A,))
    coming = asyncio.create_task(room.library.coming(TWO.key))
    await asyncio.sleep(0)
    assert not coming.done()
    room.studio.open.set()
    assert await coming is None
