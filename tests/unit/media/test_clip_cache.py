"""The clip cache: cached at once, made once, refreshed in the background; with a fake maker."""

import asyncio
from pathlib import Path

import pytest

from engine.media.clip import MadeClip, MediaError
from tests.unit.media.cache_scene import ONE, TWO, A, B, CacheScene
from wire.media import Audio, Speech

CALL, OTHER_CALL = "3-pbx1-aaaaaaaa", "3-pbx1-bbbbbbbb"


@pytest.fixture
def scene(tmp_path: Path) -> CacheScene:
    """Create an empty cache."""
    return CacheScene(tmp_path)


async def test_unknown_then_known(scene: CacheScene) -> None:
    """A source is cached after its first fetch, and not made again."""
    assert scene.cache.cached("acme", A) is None
    assert await scene.cache.fetch("acme", A) == ONE
    assert scene.cache.cached("acme", A) == ONE
    assert await scene.cache.fetch("acme", A) == ONE
    assert len(scene.maker.requests) == 1


async def test_hits_and_misses_are_counted(scene: CacheScene) -> None:
    """A clip that a call needs is there at once, or has to be made; a look ahead counts nothing."""
    scene.cache.prefetch("acme", [B], CALL)
    await scene.run_background_tasks()
    assert (scene.cache.hits, scene.cache.misses) == (0, 0)
    scene.cache.cached("acme", A)  # `fetch` follows
    await scene.cache.fetch("acme", A)
    assert (scene.cache.hits, scene.cache.misses) == (0, 1)
    await scene.cache.fetch("acme", A)
    scene.cache.cached("acme", A)
    assert (scene.cache.hits, scene.cache.misses) == (2, 1)


async def test_single_flight(scene: CacheScene) -> None:
    """Concurrent callers share one clip, and one cancelled caller does not affect the others."""
    scene.maker.open.clear()
    waiters = [asyncio.create_task(scene.cache.fetch("acme", A)) for _ in range(10)]
    await scene.run_background_tasks()
    waiters[0].cancel()
    await scene.run_background_tasks()
    scene.maker.open.set()
    results = await asyncio.gather(*waiters, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert results[1:] == [ONE] * 9
    assert len(scene.maker.requests) == 1


async def test_failure_remembered_for_a_while(scene: CacheScene) -> None:
    """A failing URL is not hammered: its failure is stored for ten seconds."""
    scene.maker.results[A] = MediaError("not_found", "HTTP status 404")
    for _ in range(3):
        with pytest.raises(MediaError, match="not_found: HTTP status 404"):
            await scene.cache.fetch("acme", A)
    assert len(scene.maker.requests) == 1
    scene.now_ms = 10_000
    scene.maker.results[A] = MadeClip(ONE, None)
    assert await scene.cache.fetch("acme", A) == ONE


async def test_stale_is_played_and_refreshed(scene: CacheScene) -> None:
    """A stale clip is returned at once and refreshed once in the background."""
    scene.maker.results[A] = MadeClip(ONE, 1000, '"v1"')
    await scene.cache.fetch("acme", A)
    scene.now_ms = 1000
    scene.maker.results[A] = MadeClip(TWO, 1000, '"v2"')
    assert [scene.cache.cached("acme", A) for _ in range(3)] == [ONE] * 3
    await scene.run_background_tasks()
    assert scene.cache.cached("acme", A) == TWO
    assert scene.maker.requests == [(A, ""), (A, '"v1"')]


async def test_not_modified(scene: CacheScene) -> None:
    """A 'not modified' response makes the same clip fresh again."""
    scene.maker.results[A] = MadeClip(ONE, 1000, '"v1"')
    await scene.cache.fetch("acme", A)
    scene.maker.results[A] = MadeClip(None, 1000, '"v1"')
    scene.now_ms = 1500
    assert scene.cache.cached("acme", A) == ONE
    await scene.run_background_tasks()
    scene.now_ms = 2499
    assert scene.cache.cached("acme", A) == ONE
    await scene.run_background_tasks()
    assert len(scene.maker.requests) == 2


async def test_refresh_fails(scene: CacheScene) -> None:
    """If a refresh fails, the old clip stays; the URL is tried again ten seconds later."""
    scene.maker.results[A] = MadeClip(ONE, 1000)
    await scene.cache.fetch("acme", A)
    scene.maker.results[A] = MediaError("http_status", "HTTP status 503")
    for now_ms, requests in ((1000, 2), (10_999, 2), (11_000, 3)):
        scene.now_ms = now_ms
        assert scene.cache.cached("acme", A) == ONE
        await scene.run_background_tasks()
        assert len(scene.maker.requests) == requests


@pytest.mark.parametrize(
    ("refreshed", "is_silent"),
    [
        (MadeClip(None, 1000), True),
        (MediaError("http_status", "HTTP status 503"), True),
        (MadeClip(TWO, 1000), False),
    ],
)
async def test_a_silent_clip(
    scene: CacheScene, refreshed: MadeClip | MediaError, is_silent: bool
) -> None:
    """It is known as such until there is another one."""
    scene.maker.results[A] = MadeClip(ONE, 1000, is_silent=True)
    assert not scene.cache.is_silent("acme", A)
    await scene.cache.fetch("acme", A)
    assert scene.cache.is_silent("acme", A)
    assert not scene.cache.is_silent("other", A)
    scene.maker.results[A] = refreshed
    scene.now_ms = 1000
    scene.cache.cached("acme", A)
    await scene.run_background_tasks()
    assert scene.cache.is_silent("acme", A) == is_silent


async def test_removed_at_its_url(scene: CacheScene) -> None:
    """A refresh that finds the audio removed drops the source."""
    scene.maker.results[A] = MadeClip(ONE, 1000)
    await scene.cache.fetch("acme", A)
    scene.now_ms = 1000
    scene.maker.results[A] = MediaError("not_found", "HTTP status 410")
    assert scene.cache.cached("acme", A) == ONE
    await scene.run_background_tasks()
    assert scene.cache.cached("acme", A) is None


async def test_prefetch(scene: CacheScene) -> None:
    """Prefetching limits concurrency and queue length, and swallows failures."""
    sources = [Audio(f"https://a.example/{n}") for n in range(9)]
    scene.maker.results[sources[1]] = MediaError("not_audio", "a page")
    scene.maker.open.clear()
    scene.cache.prefetch("acme", sources, CALL)
    await scene.run_background_tasks()
    scene.maker.open.set()
    await scene.run_background_tasks()
    assert scene.maker.max_busy == 2
    assert [bool(scene.cache.cached("acme", s)) for s in sources] == [
        True,
        False,
        *[True] * 3,
        *[False] * 4,
    ]
    with pytest.raises(MediaError, match="not_audio"):
        await scene.cache.fetch("acme", sources[1])


async def test_close(scene: CacheScene) -> None:
    """Closing cancels the clips being made."""
    scene.maker.open.clear()
    scene.cache.prefetch("acme", [A, B], CALL)
    waiter = asyncio.create_task(scene.cache.fetch("acme", A))
    await scene.run_background_tasks()
    await scene.cache.close()
    with pytest.raises(asyncio.CancelledError):
        await waiter


async def test_a_clip_that_is_being_made_is_waited_for(tmp_path: Path) -> None:
    """A key may be requested before its clip exists; without a clip being made there is no wait."""
    scene = CacheScene(tmp_path)
    assert await scene.cache.wait_for(ONE.key) is None
    scene.maker.open.clear()
    scene.cache.prefetch("acme", (A,), CALL)
    waiting = asyncio.create_task(scene.cache.wait_for(TWO.key))
    await asyncio.sleep(0)
    assert not waiting.done()
    scene.maker.open.set()
    assert await waiting is None


async def test_a_clip_that_no_call_needs_any_more(scene: CacheScene) -> None:
    """With the end of the last call that would play it, its production is cancelled."""
    scene.maker.open.clear()
    scene.cache.prefetch("acme", [A], CALL)
    scene.cache.prefetch("acme", [A, B], OTHER_CALL)
    await scene.run_background_tasks()
    scene.cache.release(CALL)
    await scene.run_background_tasks()
    assert (scene.maker.busy, scene.cache.pending) == (2, 2)
    scene.cache.release(OTHER_CALL)
    await scene.run_background_tasks()
    assert (scene.maker.busy, scene.cache.pending) == (0, 0)


async def test_a_clip_that_a_caller_waits_for(scene: CacheScene) -> None:
    """It is made, also after the call that prefetched it; when no call waits, it is cancelled."""
    scene.maker.open.clear()
    scene.cache.prefetch("acme", [A], CALL)
    waiters = [asyncio.create_task(scene.cache.fetch("acme", A)) for _ in range(2)]
    await scene.run_background_tasks()
    scene.cache.release(CALL)
    waiters[0].cancel()
    await scene.run_background_tasks()
    assert scene.maker.busy == 1
    waiters[1].cancel()
    await scene.run_background_tasks()
    assert scene.maker.busy == 0
    later = asyncio.create_task(scene.cache.fetch("acme", A))
    scene.maker.open.set()
    assert await later == ONE


async def test_a_caller_in_the_moment_of_the_cancellation(scene: CacheScene) -> None:
    """The clip is made again."""
    scene.maker.open.clear()
    scene.cache.prefetch("acme", [A], CALL)
    await scene.run_background_tasks()
    scene.cache.release(CALL)
    waiter = asyncio.create_task(scene.cache.fetch("acme", A))
    scene.maker.open.set()
    assert await waiter == ONE


async def test_what_callers_wait_for_is_urgent(scene: CacheScene) -> None:
    """A prefetched clip becomes urgent when a caller waits for it."""
    scene.maker.open.clear()
    scene.cache.prefetch("acme", [A, B], CALL)
    await scene.run_background_tasks()
    waiter = asyncio.create_task(scene.cache.fetch("acme", B))
    await scene.run_background_tasks()
    found = [(source, urgency.is_urgent) for source, urgency in scene.maker.urgency]
    assert found == [(A, False), (B, True)]
    scene.maker.open.set()
    await waiter


async def test_an_erasure_drops_speech_and_addresses_that_name_the_person(
    scene: CacheScene,
) -> None:
    """All speech of the account: its texts may be about a person without the name."""
    named = Audio("https://a.example/47.mp3")
    for account, source in (("acme", A), ("acme", B), ("acme", named), ("other", B)):
        await scene.cache.fetch(account, source)
    scene.cache.index_changed.clear()
    assert await scene.cache.erase("acme", lambda url: "47" in url) == 2
    assert [scene.cache.cached("acme", each) for each in (A, B, named)] == [ONE, None, None]
    assert scene.cache.cached("other", B) == ONE
    assert scene.cache.index_changed.is_set()  # so that it is saved


@pytest.mark.parametrize(
    "made",
    [MadeClip(TWO, None), MadeClip(None, 1000), MediaError("http_status", "HTTP status 503")],
)
async def test_an_erased_clip_does_not_come_back(
    scene: CacheScene, made: MadeClip | MediaError
) -> None:
    """Not from a refresh that runs meanwhile, whatever the server answers."""
    scene.maker.results[B] = MadeClip(ONE, 1000)
    await scene.cache.fetch("acme", B)
    scene.now_ms = 1000
    scene.maker.results[B] = made
    scene.maker.open.clear()
    assert scene.cache.cached("acme", B) == ONE
    await scene.run_background_tasks()
    assert await scene.cache.erase("acme", lambda _url: False) == 1
    scene.maker.open.set()
    await scene.run_background_tasks()
    assert scene.cache.pending == 0
    assert scene.cache.cached("acme", B) is None


async def test_who_waits_for_an_erased_clip_gets_it(scene: CacheScene) -> None:
    """It is not stored; another account's is."""
    scene.maker.open.clear()
    waiters = [asyncio.create_task(scene.cache.fetch(each, B)) for each in ("acme", "other")]
    await scene.run_background_tasks()
    assert await scene.cache.erase("acme", lambda _url: False) == 1
    scene.maker.open.set()
    assert await asyncio.gather(*waiters) == [ONE, ONE]
    assert [scene.cache.cached(each, B) for each in ("acme", "other")] == [None, ONE]


async def test_a_queued_refresh_of_an_erased_clip_is_dropped(scene: CacheScene) -> None:
    """It would make the clip again."""
    sources = [Speech(str(each)) for each in range(4)]
    for each in sources:
        scene.maker.results[each] = MadeClip(ONE, 1000)
        await scene.cache.fetch("acme", each)
    scene.now_ms = 1000
    scene.maker.open.clear()
    assert [scene.cache.cached("acme", each) for each in sources] == [ONE] * 4
    await scene.run_background_tasks()
    assert scene.maker.busy < len(sources)
    assert await scene.cache.erase("acme", lambda _url: False) == 4
    scene.maker.open.set()
    await scene.run_background_tasks()
    assert scene.cache.pending == 0
    assert [scene.cache.cached("acme", each) for each in sources] == [None] * 4
