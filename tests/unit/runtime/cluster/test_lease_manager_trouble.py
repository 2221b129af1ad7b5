"""Leases while the store is down, and after it has lost data."""

import pytest

from tests.harness.runtime.cluster_scene import Cluster, shards
from wire.shard import ShardId

THIRD = ShardId("pbx1", 3)

SETTLED_ROUNDS = 20


async def test_the_store_is_down() -> None:
    """Shards pause when their leases are over, and resume when the store is back."""
    cluster = Cluster("a")
    await cluster.run()
    cluster.store.is_down = True
    await cluster.run(3)
    assert cluster["a"].host.shards_of("pause") == []
    await cluster.run(2)
    assert sorted(cluster["a"].host.shards_of("pause")) == sorted(shards(*range(8)))
    cluster.store.is_down = False
    await cluster.run()
    assert sorted(cluster["a"].host.shards_of("resume")) == sorted(shards(*range(8)))
    assert cluster["a"].host.shards_of("drop") == []


async def test_after_an_outage_shards_stay_with_their_owners() -> None:
    """The first engine to reconnect gives others time to renew their leases."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    before = cluster["b"].held
    cluster.store.is_down = True
    await cluster.run(10)
    cluster.store.is_down = False
    await cluster.run(5)
    assert cluster["b"].held == before
    assert cluster.held() == {"a": 4, "b": 4}


async def test_the_store_lost_everything() -> None:
    """Each engine restores its own shards under new tokens, and claims none of the other's."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    before = {name: member.held for name, member in cluster.members.items()}
    tokens = {each: lease.token for each, lease in cluster["a"].host.leases.items()}
    cluster.store.lose_all()
    await cluster.run(10)
    assert {name: member.held for name, member in cluster.members.items()} == before
    assert set(cluster["a"].host.shards_of("restore")) == before["a"]
    assert all(cluster["a"].host.leases[each].token > token for each, token in tokens.items())


async def test_a_restored_shard_has_one_lease() -> None:
    """Its calls continue in new shards, and the old ones are fenced by their lease."""
    cluster = Cluster("a")
    await cluster.run()
    before = dict(cluster["a"].leases.held)
    cluster.store.lose_all()
    await cluster.run(3)
    after = cluster["a"].leases.held
    assert [lease.holds for lease in before.values()] == [False] * 8
    assert [after[each].holds for each in before] == [True] * 8


async def test_a_claim_without_a_reply_keeps_earlier_claims() -> None:
    """The shards claimed before are taken at once, as no other engine can have them."""
    cluster = Cluster("a")
    cluster.store.unanswered = frozenset(shards(5))
    await cluster.run()
    assert (
        sorted(cluster["a"].host.shards_of("take"))
        == sorted(cluster["a"].leases.held)
        == sorted(shards(0, 1, 2, 3, 4, 6, 7))
    )
    cluster.store.unanswered = frozenset()
    await cluster.run(4)
    assert sorted(cluster["a"].host.shards_of("take")) == sorted(shards(*range(8)))


async def test_a_claim_after_a_loss_without_a_reply() -> None:
    """The store has a token that the engine does not know: its calls are restored."""
    cluster = Cluster("a")
    await cluster.run()
    cluster.store.lose_all()
    cluster.store.unanswered = frozenset(shards(*range(8)))
    await cluster.run()
    cluster.store.unanswered = frozenset()
    await cluster.run(3)
    assert cluster["a"].host.shards_of("drop") == []
    assert sorted(cluster["a"].host.shards_of("restore")) == sorted(shards(*range(8)))


async def test_lost_shards_of_a_dead_engine_are_claimed() -> None:
    """When the store and the owner have lost a shard, it is claimed after the time of a lease."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    cluster.store.lose_all()
    await cluster.run(SETTLED_ROUNDS, "a")
    assert cluster.held()["a"] == 8


async def test_an_unreadable_shard_is_dropped() -> None:
    """When the store fails while calls are read, the shard is dropped and claimed again."""
    cluster = Cluster("a")
    cluster["a"].host.cannot_take = shards(*range(8))
    await cluster.run()
    assert cluster["a"].host.shards_of("drop") != []
    cluster["a"].host.cannot_take = ()
    await cluster.run(4)
    assert cluster.held() == {"a": 8}


async def test_an_unreadable_shard_does_not_affect_others() -> None:
    """A round waits for all shards, so that the next one finds each as it is."""
    cluster = Cluster("a")
    cluster["a"].host.cannot_take = shards(0)
    await cluster.run()
    assert sorted(cluster["a"].host.shards_of("take")) == sorted(shards(*range(1, 8)))
    assert sorted(cluster["a"].leases.held) == sorted(shards(*range(1, 8)))


async def test_changes_lost_by_a_failover_are_rewritten() -> None:
    """The engine keeps the shard, and its calls continue."""
    cluster = Cluster("a")
    await cluster.run()
    cluster["a"].host.numbers[THIRD] = 5  # which the store does not know
    await cluster.run(3)
    assert cluster["a"].host.shards_of("rewrite") == [THIRD]
    assert cluster.held() == {"a": 8}
    assert cluster["a"].host.shards_of("pause") == []


async def test_a_failover_that_forgot_a_renewal() -> None:
    """No engine claims a shard whose owner may still hold a lease that the store has lost."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    before = cluster["a"].held
    cluster.store.fail_over()
    for _ in range(3):
        await cluster.run(1, "b")
        assert (cluster["a"].held, len(cluster["b"].held)) == (before, 4)
    await cluster.run(2, "b")
    assert cluster.held() == {"a": 0, "b": 8}


async def test_a_released_shard_during_a_failover() -> None:
    """It is not reclaimed at once: the store may have lost another engine's claim."""
    cluster = Cluster("a")
    await cluster.run()
    cluster.add_engine("b")
    await cluster["b"].leases.run_once()
    await cluster.run(1, "a")
    [offered] = cluster["a"].host.shards_of("drop")
    await cluster["b"].leases.run_once()
    assert offered in cluster["b"].held
    cluster.store.fail_over()
    await cluster.run(2, "a")
    assert offered in cluster["b"].held
    assert offered not in cluster["a"].held


async def test_nothing_is_released_after_a_reconnect() -> None:
    """Engines claim nothing on new connections, so excess shards are kept."""
    cluster = Cluster("a")
    await cluster.run()
    cluster.add_engine("b")
    await cluster["b"].leases.run_once()
    cluster.store.connections += 1
    await cluster.run(4)
    assert cluster.held() == {"a": 8, "b": 0}
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"a": 4, "b": 4}


async def test_an_unstable_connection() -> None:
    """Shards of a dead engine are claimed in the end, and shares become fair."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    for _ in range(14):
        cluster.store.connections += 1
        await cluster.run(1, "a")
    assert cluster.held()["a"] == 8
    cluster.add_engine("c")
    for _ in range(SETTLED_ROUNDS):
        cluster.store.connections += 1
        await cluster.run(1, "a", "c")
    assert cluster.held() == {"a": 4, "b": 0, "c": 4}


@pytest.mark.parametrize("by_s", [-500.0, 3.0, 3_600.0])
@pytest.mark.parametrize("first", ["a", "b", "c"])
async def test_the_stores_clock_is_changed(by_s: float, first: str) -> None:
    """All leases seem to be over, but no engine claims a shard of a live one."""
    cluster = Cluster("b", "c", slots=2)
    await cluster.run(SETTLED_ROUNDS)
    before = cluster.held()
    cluster.add_engine("a")
    cluster["b"].host.live = cluster["c"].host.live = dict.fromkeys(shards(0, 1), 9)
    await cluster["a"].leases.run_once()
    cluster.time.set_store(by_s)
    await cluster[first].leases.run_once()
    await cluster["a"].leases.run_once()
    assert cluster.held() == before | {"a": 0}
    await cluster.run(SETTLED_ROUNDS)
    assert sorted(cluster.held().values()) == [0, 1, 1]


async def test_an_engine_that_dies_when_it_joins() -> None:
    """One shard at most is released for it, and reclaimed a heartbeat later."""
    cluster = Cluster("a")
    await cluster.run()
    cluster.add_engine("b")
    await cluster["b"].leases.run_once()  # and not again
    free = []
    for _ in range(6):
        await cluster.run(1, "a")
        free.append(8 - cluster.held()["a"])
    assert free == [1, 0, 0, 0, 0, 0]
    assert len(cluster["a"].host.shards_of("drop")) == 1


async def test_a_slow_engine() -> None:
    """It misses a released shard, and still gets its share."""
    cluster = Cluster("a")
    await cluster.run()
    cluster.add_engine("b")
    await cluster["b"].leases.run_once()
    await cluster.run(2, "a")
    await cluster.run(12)
    assert cluster.held() == {"a": 4, "b": 4}
