"""Containment of accounts in what they make an engine fetch: audio, and targets of callbacks."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from base.address_guard import AddressGuard
from base.lookups import Lookups, look_up
from engine.callbacks.transport import Failed, SignedEvent
from engine.callbacks.transports.grpc import GrpcTransport
from engine.media.clip import MediaError, MediaLimits
from engine.media.worker.process import WorkerPool
from engine.media.worker.protocol import Transcode
from tests.harness.executors import InlineExecutor
from tests.harness.media.scene import media_scene
from tests.harness.media.sounds import LIMITS, MediaScene, sound
from tests.harness.until import until
from tests.harness.webhooks.customer import LOOPBACK
from wire.callbacks.targets import GrpcTarget
from wire.media import Audio

CALL = "3-pbx1-aaaaaaaa"


@pytest.fixture
async def scene() -> AsyncIterator[MediaScene]:
    """Start a customer's server."""
    async with media_scene() as scene:
        yield scene


async def test_a_signed_address_plays_for_no_other_account(
    scene: MediaScene, tmp_path: Path
) -> None:
    """Its signature has run out: who has the address does not get the clip of the first account."""
    source = scene.source_at("signed.wav")
    scene.origin.bodies["signed.wav"] = sound("wav"), {}
    async with scene.open_cache(tmp_path) as cache:
        clip = await cache.fetch("acme", source)
        del scene.origin.bodies["signed.wav"]
        assert cache.cached("acme", source) == clip
        assert cache.cached("other", source) is None
        with pytest.raises(MediaError, match="not_found"):
            await cache.fetch("other", source)
    async with scene.open_cache(tmp_path) as restarted:
        assert restarted.cached("acme", source) == clip
        assert restarted.cached("other", source) is None


async def test_crafted_files_delay_no_other_account(tmp_path: Path) -> None:
    """Each holds its worker for the longest time; the other account's file needs no wait."""
    source, target, fifo = (tmp_path / each for each in ("a.mp3", "a.wav", "never"))
    await asyncio.to_thread(source.write_bytes, sound("mp3"))
    os.mkfifo(fifo)
    crafted = Transcode(str(fifo), "mp3", str(target), 20_000)
    pool = WorkerPool(LIMITS, tmp_path)
    try:
        jobs = [asyncio.create_task(pool.run("crafter", crafted)) for _ in range(20)]
        writer = await asyncio.to_thread(os.open, fifo, os.O_WRONLY)  # opens when a worker reads
        await pool.run("acme", Transcode(str(source), "mp3", str(target), 20_000))
        assert not any(job.done() for job in jobs)
        os.close(writer)
    finally:
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        await pool.close()


async def test_slow_servers_delay_no_other_account(scene: MediaScene, tmp_path: Path) -> None:
    """An account's downloads and prefetches that hang leave room for the others'."""
    hanging, ended = [], asyncio.Event()

    async def hang(request: web.Request) -> web.StreamResponse:
        hanging.append(request)
        await ended.wait()
        raise web.HTTPNotFound

    names = [f"slow{number}" for number in range(20)]
    scene.origin.handlers.update(dict.fromkeys(names, hang))
    scene.origin.bodies["a.wav"] = sound("wav"), {}
    limits = MediaLimits(downloads=4, downloads_of_account=2, prefetch_at_once=4)
    async with scene.open_cache(tmp_path, limits=limits) as cache:
        slow = [scene.source_at(name) for name in names]
        cache.prefetch("slow", slow[:10], CALL)
        fetches = [asyncio.create_task(cache.fetch("slow", each)) for each in slow[10:]]
        await until(lambda: len(hanging) == limits.downloads_of_account)
        cache.prefetch("acme", (scene.source_at("a.wav"),), CALL)
        await until(lambda: cache.cached("acme", scene.source_at("a.wav")) is not None)
        assert len(hanging) == limits.downloads_of_account
        ended.set()
        await asyncio.gather(*fetches, return_exceptions=True)


async def test_downloads_of_one_account_are_paced(scene: MediaScene, tmp_path: Path) -> None:
    """All of them together: each byte takes time of the loop that serves all calls."""
    body = sound("wav")
    limits = MediaLimits(download_bytes_per_s=len(body))
    names = [f"{number}.wav" for number in range(4)]
    scene.origin.bodies.update(dict.fromkeys(names, (body, {})))
    async with scene.open_cache(tmp_path, limits=limits) as cache:
        began_s = time.monotonic()
        await asyncio.gather(*(cache.fetch("large", scene.source_at(each)) for each in names))
        assert time.monotonic() - began_s > 2.5  # a lower bound: 4 s, less the burst
        scene.origin.bodies["a.wav"] = body, {}
        large = asyncio.create_task(cache.fetch("large", scene.source_at("a.wav")))
        await cache.fetch("small", scene.source_at("0.wav"))
        assert not large.done()
        await large


async def test_prefetches_of_one_account_are_limited(scene: MediaScene, tmp_path: Path) -> None:
    """Beyond its share of the queue an account's audio is fetched when it is played."""
    ended = asyncio.Event()

    async def hang(_request: web.Request) -> web.StreamResponse:
        await ended.wait()
        raise web.HTTPNotFound

    scene.origin.handlers["slow"] = hang
    limits = MediaLimits(prefetch_waiting=4, prefetch_waiting_of_account=3)
    async with scene.open_cache(tmp_path, limits=limits) as cache:
        sources = [Audio(f"{scene.source_at('slow').url}?{number}") for number in range(9)]
        for account, pending in (("slow", 3), ("acme", 4)):
            cache.prefetch(account, sources, CALL)
            assert cache.pending == pending
        ended.set()


@pytest.mark.parametrize("host", ["93.184.216.34", "2600:1901::1"])
async def test_plain_grpc_leaves_no_allowed_network(host: str) -> None:
    """Events and their signatures are in clear text: a public server needs grpcs://."""
    transport = GrpcTransport(AddressGuard(LOOPBACK), Lookups(look_up, InlineExecutor()))
    refused = await transport.deliver(GrpcTarget(host, 50051), SignedEvent("acme", "1", b"{}", {}))
    assert refused == Failed("refused_address")
    await transport.close()
