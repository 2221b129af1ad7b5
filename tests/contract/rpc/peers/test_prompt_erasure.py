"""A number is erased from the audio caches of all engines."""

from pathlib import Path

from tests.harness.customers.media_server import MediaServer
from tests.harness.rpc.pair import BrokenEngine, EnginePair, running_pair
from tests.harness.shards import at
from wire.media import Audio

PERSON = {"account": "acme", "number": "+4790000007", "region": "NO"}


async def cache(pair: EnginePair, address: str) -> None:
    for scene in (pair.one, pair.two):
        await scene.dependencies.clip_cache.fetch("acme", Audio(address))


async def test_a_prompt_is_erased_at_all_engines(tmp_path: Path) -> None:
    """The first request of an erasure says how many; those that continue it remove none."""
    async with MediaServer() as sounds, running_pair(tmp_path) as pair:
        address = sounds.tone(600, 100) + "?to=90000007"
        await cache(pair, address)
        status, first = await pair.one.request("POST", "/erasures", PERSON)
        assert (status, first["prompts"], "silentEngines" in first) == (200, 2, False)
        for scene in (pair.one, pair.two):
            assert scene.dependencies.clip_cache.cached("acme", Audio(address)) is None
        await cache(pair, address)
        _, later = await pair.one.request("POST", "/erasures", {**PERSON, "shard": str(at(0))})
        assert "prompts" not in later


async def test_an_engine_that_does_not_answer_is_counted(tmp_path: Path) -> None:
    """The caller learns that it has to be repeated."""
    async with running_pair(tmp_path) as pair, BrokenEngine().running() as broken:
        pair.directories[pair.one].where[at(1)] = broken.url
        _, found = await pair.one.request("POST", "/erasures", PERSON)
        assert found["silentEngines"] == 1
