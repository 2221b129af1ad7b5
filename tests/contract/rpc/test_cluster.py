"""What the RPC shows operators: engines with their shards, the store, and audio."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from engine.rpc.handlers.cluster.report import NO_RESPONSE
from engine.runtime.cluster.membership import Membership, Peer
from engine.store.errors import StoreDown
from tests.harness.rpc.pair import running_pair
from tests.harness.rpc.scene import RpcScene
from tests.harness.store.unreliable_memory import UnreliableStore
from tests.harness.until import until
from wire.cluster import StoreServer
from wire.media import Speech


async def test_an_engine_and_its_shards(scene: RpcScene) -> None:
    """Its own state and its calls by shard, without anything of an account."""
    call = await scene.start_call()
    status, found = await scene.request("GET", "/engines")
    assert status == 200
    (engine,) = found["engines"]
    assert (engine["engine"], engine["isReady"], engine["calls"]) == ("engine", True, 1)
    assert engine["version"]
    assert "faults" not in engine
    shards = {each["shard"]: each.get("calls", 0) for each in engine["shards"]}
    assert sorted(shards) == ["pbx1/0", "pbx1/1"]
    assert sum(shards.values()) == 1
    assert "unowned" not in found
    assert not any(each in str(found) for each in (call, "acme", "+47"))


async def test_shards_that_wait_for_their_node(scene: RpcScene) -> None:
    """They are paused, and the engine says why it is not ready."""
    for shard in scene.service.nodes["pbx1"].shards.values():
        shard.pause()
    _, found = await scene.request("GET", "/engines")
    (engine,) = found["engines"]
    assert engine["faults"] == ["node pbx1 is disconnected"]
    assert "isReady" not in engine
    assert [each["isPaused"] for each in engine["shards"]] == [True, True]


async def test_a_shard_that_no_engine_has(scene: RpcScene) -> None:
    """It is named, as its calls stand still."""
    scene.service.nodes["pbx1"].shards.pop(1)
    _, found = await scene.request("GET", "/engines")
    assert found["unowned"] == ["pbx1/1"]


async def test_a_commit_that_lags(scene: RpcScene) -> None:
    """The shard has changes that wait, and for how long the commit has been tried."""
    scene.store.down = True
    starting = asyncio.create_task(scene.start_call())

    async def lags() -> bool:
        _, found = await scene.request("GET", "/engines")
        shards = found["engines"][0]["shards"]
        return any(
            each.get("lagMs", 0) > 0
            and each.get("pendingChanges", 0) > 0
            and each.get("canStore") is False
            for each in shards
        )

    await until(lags, what="a commit that lags")
    scene.store.down = False
    await starting
    _, found = await scene.request("GET", "/engines")
    assert not any("lagMs" in each for each in found["engines"][0]["shards"])


async def test_any_engine_has_the_view_of_all(tmp_path: Path) -> None:
    """Both list both, with the shards that each has."""
    async with running_pair(tmp_path) as pair:
        for scene in (pair.one, pair.two):
            _, found = await scene.request("GET", "/engines")
            listed = {each["engine"]: each["shards"][0]["shard"] for each in found["engines"]}
            assert listed == {"one": "pbx1/0", "two": "pbx1/1"}
            assert all(each["isReady"] for each in found["engines"])


async def test_an_engine_that_does_not_respond(tmp_path: Path) -> None:
    """It is shown at once as its heartbeat describes it: an operator looks for exactly that."""
    async with running_pair(tmp_path) as pair:
        pair.heartbeats["two"] = Peer(pair.two.url, {"pbx1/1": 3}, capacity=10)
        pair.directories[pair.one].where = {}
        _, found = await pair.one.request("GET", "/engines")
        other = found["engines"][1]
        assert other["isResponding"] is False
        assert (other["faults"], other["calls"], other["capacity"]) == ([NO_RESPONSE], 3, 10)
        assert other["shards"] == [{"shard": "pbx1/1", "calls": 3}]


async def test_the_other_engines_of_a_membership() -> None:
    """They have names, and this engine is not one of them."""
    members = Membership("one")
    body = '{"url":"http://x","shards":{"pbx1/0":2}}'
    members.update({"one": body, "two": body, "three": "no heartbeat"})
    assert {name: peer.shards for name, peer in members.others.items()} == {"two": {"pbx1/0": 2}}


async def test_the_store(scene: RpcScene) -> None:
    """It answers with its latency, and without it with the reason."""
    status, found = await scene.request("GET", "/store")
    assert (status, found["isReachable"], found["latencyMs"] > 0) == (200, True, True)
    assert found["servers"] == [{"kind": "memory"}]
    scene.store.down = True
    _, found = await scene.request("GET", "/store")
    assert found == {"isReachable": False, "error": "the store can't be used now"}


class SilentStore(UnreliableStore):
    """A store whose server says nothing of itself."""

    async def servers(self) -> list[StoreServer]:
        """Refuse."""
        raise StoreDown("no permission")


async def test_a_server_that_says_nothing_of_itself(tmp_path: Path) -> None:
    """Managed servers may not allow INFO; the store is reachable all the same."""
    async with AsyncExitStack() as stack:
        scene = RpcScene(SilentStore())
        await scene.open(stack, tmp_path)
        _, found = await scene.request("GET", "/store")
    assert found["isReachable"]
    assert "servers" not in found


async def test_the_audio_cache(scene: RpcScene) -> None:
    """Hits, misses and failures by reason are counted."""
    cache, text = scene.dependencies.clip_cache, Speech("Welcome.")
    assert cache.cached("acme", text) is None
    scene.telemetry.metrics.external.media_failures.table("url")["timeout"] += 2
    _, found = await scene.request("GET", "/engines")
    assert found["engines"][0]["audioCache"] == {"failures": {"timeout": 2}}
