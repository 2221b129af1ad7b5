"""The clip cache: cached at once, made once, refreshed in the background; with a fake maker."""

import asyncio
from pathlib import Path

import pytest

from engine.media.clip import MadeClip, MediaError
from tests.unit.media.cache_bench import ONE, TWO, A, B, CacheBench
from wire.media import Audio

CALL, OTHER_CALL = "3-pbx1-aaaaaaaa", "3-pbx1-bbbbbbbb"


@pytest.fixture
def bench(tmp_path: Path) -> CacheBench:
    """Create an empty cache."""
    return CacheBench(tmp_path)


async def test_unknown_then_known(bench: CacheBench) -> None:
    """A source is cached after its first fetch, and not made again."""
    assert bench.cache.cached("acme", A) is None
    assert await bench.cache.fetch("acme", A) == ONE
    assert bench.cache.cached("acme", A) == ONE
    assert await bench.cache.fetch("acme", A) == ONE
    assert len(bench.maker.requests) == 1


async def test_hits_and_misses_are_counted(bench: CacheBench) -> None:
    """A clip that a call needs is there at once, or has to be made; a look ahead counts nothing."""
    bench.cache.prefetch("acme", [B], CALL)
    await bench.run_background_tasks()
    assert (bench.cache.hits, bench.cache.misses) == (0, 0)
    bench.cache.cached("acme", A)  # `fetch` follows
    await bench.cache.fetch("acme", A)
    assert (bench.cache.hits, bench.cache.misses) == (0, 1)
    await bench.cache.fetch("acme", A)
    bench.cache.cached("acme", A)
    assert (bench.cache.hits, bench.cache.misses) == (2, 1)


async def test_single_flight(bench: CacheBench) -> None:
    """Concurrent callers share one clip, and one cancelled caller does not affect the others."""
    bench.maker.open.clear()
    waiters = [asyncio.create_task(bench.cache.fetch("acme", A)) for _ in range(10)]
    await bench.run_background_tasks()
    waiters[0].cancel()
    await bench.run_background_tasks()
    bench.maker.open.set()
    results = await asyncio.gather(*waiters, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert results[1:] == [ONE] * 9
    assert len(bench.maker.requests) == 1


async def test_failure_remembered_for_a_while(bench: CacheBench) -> None:
    """A failing URL is not hammered: its failure is stored for ten seconds."""
    bench.maker.results[A] = MediaError("not_found", "HTTP status 404")
    for _ in range(3):
        with pytest.raises(MediaError, match="not_found: HTTP status 404"):
            await bench.cache.fetch("acme", A)
    assert len(bench.maker.requests) == 1
    bench.now_ms = 10_000
    bench.maker.results[A] = MadeClip(ONE, None)
    assert await bench.cache.fetch("acme", A) == ONE


async def test_stale_is_played_and_refreshed(bench: CacheBench) -> None:
    """A stale clip is returned at once and refreshed once in the background."""
    bench.maker.results[A] = MadeClip(ONE, 1000, '"v1"')
    await bench.cache.fetch("acme", A)
    bench.now_ms = 1000
    bench.maker.results[A] = MadeClip(TWO, 1000, '"v2"')
    assert [bench.cache.cached("acme", A) for _ in range(3)] == [ONE] * 3
    await bench.run_background_tasks()
    assert bench.cache.cached("acme", A) == TWO
    assert bench.maker.requests == [(A, ""), (A, '"v1"')]


async def test_not_modified(bench: CacheBench) -> None:
    """A 'not modified' response makes the same clip fresh again."""
    bench.maker.results[A] = MadeClip(ONE, 1000, '"v1"')
    await bench.cache.fetch("acme", A)
    bench.maker.results[A] = MadeClip(None, 1000, '"v1"')
    bench.now_ms = 1500
    assert bench.cache.cached("acme", A) == ONE
    await bench.run_background_tasks()
    bench.now_ms = 2499
    assert bench.cache.cached("acme", A) == ONE
    await bench.run_background_tasks()
    assert len(bench.maker.requests) == 2


async def test_refresh_fails(bench: CacheBench) -> None:
    """If a refresh fails, the old clip stays; the URL is tried again ten seconds later."""
    bench.maker.results[A] = MadeClip(ONE, 1000)
    await bench.cache.fetch("acme", A)
    bench.maker.results[A] = MediaError("http_status", "HTTP status 503")
    for now_ms, requests in ((1000, 2), (10_999, 2), (11_000, 3)):
        bench.now_ms = now_ms
        assert bench.cache.cached("acme", A) == ONE
        await bench.run_background_tasks()
        assert len(bench.maker.requests) == requests


async def test_removed_at_its_url(bench: CacheBench) -> None:
    """A refresh that finds the audio removed drops the source."""
    bench.maker.results[A] = MadeClip(ONE, 1000)
    await bench.cache.fetch("acme", A)
    bench.now_ms = 1000
    bench.maker.results[A] = MediaError("not_found", "HTTP status 410")
    assert bench.cache.cached("acme", A) == ONE
    await bench.run_background_tasks()
    assert bench.cache.cached("acme", A) is None


async def test_prefetch(bench: CacheBench) -> None:
    """Prefetching limits concurrency and queue length, and swallows failures."""
    sources = [Audio(f"https://a.example/{n}") for n in range(9)]
    bench.maker.results[sources[1]] = MediaError("not_audio", "a page")
    bench.maker.open.clear()
    bench.cache.prefetch("acme", sources, CALL)
    await bench.run_background_tasks()
    bench.maker.open.set()
    await bench.run_background_tasks()
    assert bench.maker.max_busy == 2
    assert [bool(bench.cache.cached("acme", s)) for s in sources] == [
        True,
        False,
        *[True] * 3,
        *[False] * 4,
    ]
    with pytest.raises(MediaError, match="not_audio"):
        await bench.cache.fetch("acme", sources[1])


async def test_close(bench: CacheBench) -> None:
    """Closing cancels the clips being made."""
    bench.maker.open.clear()
    bench.cache.prefetch("acme", [A, B], CALL)
    waiter = asyncio.create_task(bench.cache.fetch("acme", A))
    await bench.run_background_tasks()
    await bench.cache.close()
    with pytest.raises(asyncio.CancelledError):
        await waiter


async def test_a_clip_that_is_being_made_is_waited_for(tmp_path: Path) -> None:
    """A key may be requested before its clip exists; without a clip being made there is no wait."""
    bench = CacheBench(tmp_path)
    assert await bench.cache.wait_for(ONE.key) is None
    bench.maker.open.clear()
    bench.cache.prefetch("acme", (A,), CALL)
    waiting = asyncio.create_task(bench.cache.wait_for(TWO.key))
    await asyncio.sleep(0)
    assert not waiting.done()
    bench.maker.open.set()
    assert await waiting is None


async def test_a_clip_that_no_call_needs_any_more(bench: CacheBench) -> None:
    """With the end of the last call that would play it, its production is cancelled."""
    bench.maker.open.clear()
    bench.cache.prefetch("acme", [A], CALL)
    bench.cache.prefetch("acme", [A, B], OTHER_CALL)
    await bench.run_background_tasks()
    bench.cache.release(CALL)
    await bench.run_background_tasks()
    assert (bench.maker.busy, bench.cache.pending) == (2, 2)
    bench.cache.release(OTHER_CALL)
    await bench.run_background_tasks()
    assert (bench.maker.busy, bench.cache.pending) == (0, 0)


async def test_a_clip_that_a_caller_waits_for(bench: CacheBench) -> None:
    """It is made, also after the call that prefetched it; when no call waits, it is cancelled."""
    bench.maker.open.clear()
    bench.cache.prefetch("acme", [A], CALL)
    waiters = [asyncio.create_task(bench.cache.fetch("acme", A)) for _ in range(2)]
    await bench.run_background_tasks()
    bench.cache.release(CALL)
    waiters[0].cancel()
    await bench.run_background_tasks()
    assert bench.maker.busy == 1
    waiters[1].cancel()
    await bench.run_background_tasks()
    assert bench.maker.busy == 0
    later = asyncio.create_task(bench.cache.fetch("acme", A))
    bench.maker.open.set()
    assert await later == ONE


async def test_a_caller_in_the_moment_of_the_cancellation(bench: CacheBench) -> None:
    """The clip is made again."""
    bench.maker.open.clear()
    bench.cache.prefetch("acme", [A], CALL)
    await bench.run_background_tasks()
    bench.cache.release(CALL)
    waiter = asyncio.create_task(bench.cache.fetch("acme", A))
    bench.maker.open.set()
    assert await waiter == ONE


async def test_what_callers_wait_for_is_urgent(bench: CacheBench) -> None:
    """A prefetched clip becomes urgent when a caller waits for it."""
    bench.maker.open.clear()
    bench.cache.prefetch("acme", [A, B], CALL)
    await bench.run_background_tasks()
    waiter = asyncio.create_task(bench.cache.fetch("acme", B))
    await bench.run_background_tasks()
    found = [(source, urgency.is_urgent) for source, urgency in bench.maker.urgency]
    assert found == [(A, False), (B, True)]
    bench.maker.open.set()
    await waiter
