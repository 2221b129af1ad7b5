"""Any engine serves a clip: a PBX that asks one without it gets it from another."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.rpc.peers.client import FORWARDED
from tests.harness.rpc.pair import BrokenEngine, EnginePair, running_pair
from tests.harness.rpc.scene import RpcScene
from tests.harness.shards import at
from wire.media import Clip, Tone


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[EnginePair]:
    """Run two engines."""
    async with running_pair(tmp_path) as made:
        yield made


async def made_by(scene: RpcScene) -> Clip:
    """Make a clip at an engine."""
    return await scene.dependencies.clip_cache.fetch("acme", Tone(425, 200))


async def read(scene: RpcScene, key: str, method: str = "GET", **headers: str) -> tuple[int, int]:
    """Request a clip as a PBX does; returns the status and the size."""
    url = f"{scene.url}/media/{key}.wav"
    async with scene.session.request(method, url, headers=headers) as response:
        body = await response.read()
        return response.status, len(body) if method == "GET" else response.content_length or 0


async def test_a_clip_of_the_other_engine(pair: EnginePair) -> None:
    """It is passed on whole, under the path that it has at its own engine."""
    clip = await made_by(pair.two)
    expected = (200, 44 + clip.duration_ms * 16)
    for method in ("GET", "HEAD"):
        assert await read(pair.one, clip.key, method) == expected
        assert await read(pair.two, clip.key, method) == expected


async def test_clips_of_both_engines_are_one_file(pair: EnginePair) -> None:
    """The engine that is asked has one of them, and gets the other one."""
    first = await made_by(pair.one)
    second = await pair.two.dependencies.clip_cache.fetch("acme", Tone(600, 300))
    expected = (200, 44 + (first.duration_ms + second.duration_ms) * 16)
    assert await read(pair.one, f"{first.key}-{second.key}") == expected
    assert await read(pair.one, f"{second.key}-{first.key}", "HEAD") == expected


async def test_a_clip_that_no_engine_has(pair: EnginePair) -> None:
    """It is not found, and a request of an engine is not passed on again."""
    assert (await read(pair.one, "0" * 32))[0] == 404
    clip = await made_by(pair.two)
    assert (await read(pair.one, clip.key, **{FORWARDED: "1"}))[0] == 404


async def test_an_engine_that_does_not_answer(pair: EnginePair) -> None:
    """The others are asked nevertheless."""
    clip = await made_by(pair.two)
    async with BrokenEngine().running() as broken:
        pair.directories[pair.one].where[at(2)] = broken.url
        assert (await read(pair.one, clip.key))[0] == 200
        assert (await read(pair.one, "0" * 32))[0] == 404
