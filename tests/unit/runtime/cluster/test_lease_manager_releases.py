"""The lease manager: shards that are released for another engine, and free ones."""

import msgspec

from engine.runtime.cluster.membership import Peer
from tests.harness.runtime.cluster_scene import SETTLED_ROUNDS, TIMINGS, Cluster, shards


async def test_a_shard_is_released_after_the_others_know() -> None:
    """They plan with the heartbeats, and would take a shard for owned that is free."""
    cluster = Cluster("a")
    await cluster.run(SETTLED_ROUNDS)
    cluster.add_engine("b")
    while len(cluster["a"].held) == 8:
        await cluster.run(1, "b", "a")
    bodies = await cluster.store.heartbeat("observer", "", 0)
    announced = msgspec.json.decode(bodies["a"], type=Peer).shards
    assert set(announced) == {str(shard) for shard in cluster["a"].held}


async def test_a_released_shard_is_not_left_to_another_engine() -> None:
    """The engine that it was released for claims it, although that has more calls by now."""
    cluster = Cluster("a")
    await cluster.run(SETTLED_ROUNDS)
    cluster.add_engine("b")
    cluster.add_engine("c")
    while not (cluster["b"].held and cluster["c"].held):
        await cluster.run()
    before = cluster["a"].held
    while cluster["a"].held == before:
        await cluster.run(1, "b", "c", "a")
    (released,) = before - cluster["a"].held
    target = cluster[(await _heartbeat(cluster, "a")).offers[str(released)]]
    target.host.live = dict.fromkeys(target.held, 1_000)
    await target.leases.run_once()
    assert released in target.held


async def test_free_shards_left_to_another_engine_are_checked_soon() -> None:
    """That engine may have left them to this one; after some checks there is no more hurry."""
    cluster = Cluster("a", "b")
    cluster["b"].host.cannot_take = shards(*range(8))  # it is alive, and takes none
    await cluster.run(1, "b", "a")
    leases = cluster["a"].leases
    pauses_s = [leases.next_run_s() for _ in range(7)]
    assert pauses_s == [TIMINGS.heartbeat_s / 10] * 5 + [TIMINGS.heartbeat_s] * 2
    await cluster.run(SETTLED_ROUNDS)
    assert not leases.is_settled  # it has its share, and some shards have no owner
    cluster["b"].host.cannot_take = ()
    await cluster.run(SETTLED_ROUNDS)
    assert leases.next_run_s() == TIMINGS.heartbeat_s


async def test_an_offer_ends() -> None:
    """Once the shard has an owner again, and after a lease in any case."""
    cluster = Cluster("a")
    await cluster.run(SETTLED_ROUNDS)
    other = cluster.add_engine("b")
    other.host.cannot_take = shards(*range(8))
    while len(cluster["a"].held) == 8:
        await cluster.run(1, "b", "a")
    assert list((await _heartbeat(cluster, "a")).offers.values()) == ["b"]
    await cluster.run(2, "a")
    assert (await _heartbeat(cluster, "a")).offers == {}
    assert len(cluster["a"].held) == 8  # it has claimed the shard again


async def _heartbeat(cluster: Cluster, name: str) -> Peer:
    """Return the last heartbeat of an engine."""
    bodies = await cluster.store.heartbeat("observer", "", 0)
    return msgspec.json.decode(bodies[name], type=Peer)
