"""The lease manager: fair shares, and engines that join, die or freeze."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.runtime.cluster.lease import LeaseTimings
from engine.runtime.cluster.node_duties import NodeDuty
from engine.runtime.cluster.shard_map import ShardMap
from engine.store.shard_layout import ShardLayout, SlotsMismatch
from tests.harness.runtime.cluster_scene import SETTLED_ROUNDS, TIMINGS, Cluster, shards
from wire.shard import ShardId

THIRD = ShardId("pbx1", 3)


@pytest.mark.parametrize("slots", [1, 7, 8])
@pytest.mark.parametrize("engines", [1, 2, 3])
async def test_shares_are_equal(engines: int, slots: int) -> None:
    """For any number of engines and slots, shares differ by one at most, and all are held."""
    cluster = Cluster(*(f"e{number}" for number in range(engines)), slots=slots)
    await cluster.run(SETTLED_ROUNDS)
    counts = cluster.held().values()
    assert sum(counts) == slots
    assert max(counts) - min(counts) <= 1
    assert all(member.leases.is_settled for member in cluster.members.values())


async def test_an_engine_without_its_share_is_not_settled() -> None:
    """The shards are held by another engine, whose heartbeat has not expired."""
    cluster = Cluster("a")
    await cluster.run()
    cluster.add_engine("b")
    await cluster["b"].leases.run_once()
    assert not cluster["b"].leases.is_settled


async def test_an_engine_joins() -> None:
    """It gets its share, one shard a heartbeat."""
    cluster = Cluster("a")
    await cluster.run()
    cluster.add_engine("b")
    for released in (0, 1, 2, 3, 4):
        await cluster.run()
        assert len(cluster["a"].host.shards_of("drop")) == released
    await cluster.run(3)
    assert cluster.held() == {"a": 4, "b": 4}
    assert cluster["a"].host.shards_of("drain") == cluster["a"].host.shards_of("drop")
    assert len(cluster["a"].host.shards_of("take")) == 8


@pytest.mark.parametrize("name", ["0", "z"])
async def test_shards_move_only_towards_fair_shares(name: str) -> None:
    """A joining engine gets what makes the shares equal; which engine has one more is open."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    before = sum(len(member.host.shards_of("drop")) for member in cluster.members.values())
    cluster.add_engine(name)
    for _ in range(SETTLED_ROUNDS):
        await cluster.run()
        await cluster[name].leases.run_once()  # a new owner announces its shards at once
    assert sorted(cluster.held().values()) == [2, 3, 3]
    moved = sum(len(member.host.shards_of("drop")) for member in cluster.members.values()) - before
    assert moved == 2
    assert all(member.leases.is_settled for member in cluster.members.values())


async def test_own_changes_release_no_further_shard() -> None:
    """A release wakes its own engine, too, which waits before it releases the next shard."""
    cluster = Cluster("a", "b")
    cluster["a"].membership.update({})
    await cluster["a"].leases.run_once()
    await cluster["b"].leases.run_once()
    for _ in range(3):
        await cluster["a"].leases.run_once()
    assert len(cluster["a"].host.shards_of("drop")) == 1


async def test_an_engine_dies() -> None:
    """Another engine gets its shards at the first heartbeat after its leases are over."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    await cluster.run(3, "b")
    assert cluster.held()["b"] == 4
    await cluster.run(2, "b")
    assert cluster.held()["b"] == 8


async def test_nodes_are_connected_while_calls_are_loaded() -> None:
    """The engine that takes over needs its connections with the first call."""
    cluster = Cluster("a", slots=1)
    await cluster.run()
    other = cluster.add_engine("b")
    other.host.cannot_take = shards(0)  # its calls are not loaded so far
    await cluster.run(SETTLED_ROUNDS)
    assert not other.leases.duties.of("pbx1").owns
    cluster.members.pop("a")
    await cluster.run(SETTLED_ROUNDS)
    assert (other.held, other.leases.duties.of("pbx1").owns) == (set(), True)


async def test_a_rejected_renewal() -> None:
    """A shard that another engine has by now is dropped at once."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    lost = cluster["a"].held
    await cluster.run(6, "b")
    await cluster["a"].leases.run_once()
    assert set(cluster["a"].host.shards_of("drop")) >= lost
    assert "store" not in {line.split()[0] for line in cluster["a"].host.lines}


async def test_a_suspected_lease() -> None:
    """A shard that another engine may have is paused, checked, and resumed."""
    cluster = Cluster("a")
    await cluster.run()
    cluster["a"].leases.suspect(THIRD)
    cluster["a"].leases.suspect(THIRD)
    assert cluster["a"].host.shards_of("pause") == [THIRD]
    await cluster["a"].leases.run_once()
    assert cluster["a"].host.shards_of("resume") == [THIRD]
    cluster["a"].leases.suspect(ShardId("pbx1", 99))
    assert cluster["a"].host.shards_of("pause") == [THIRD]


async def test_a_frozen_clock() -> None:
    """After a sleep past its leases an engine holds nothing, until it renews them."""
    cluster = Cluster("a")
    await cluster.run()
    cluster.time.pass_s(60)
    assert cluster["a"].held == set()
    await cluster["a"].leases.run_once()
    assert len(cluster["a"].held) == 8
    assert sorted(cluster["a"].host.shards_of("resume")) == sorted(shards(*range(8)))


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("beat"), st.sampled_from("abc")),
        st.tuples(st.just("pass"), st.sampled_from((0.1, 0.5, 1.0, 1.9, 2.5))),
        st.tuples(st.just("leave"), st.sampled_from("abc")),
        st.tuples(st.just("store"), st.booleans()),
        st.tuples(st.just("failover"), st.none()),
    ),
    max_size=60,
)


@given(STEPS)
@settings(deadline=None)
async def test_no_shard_has_two_owners(steps: list[tuple[str, object]]) -> None:
    """In any order of heartbeats, sleeps, departures, store outages and failovers."""
    cluster = Cluster("a", "b", "c", slots=5)
    for member in cluster.members.values():
        await member.leases.run_once()  # the first connection delays no claims (decision 0030)
    for step, argument in steps:
        match step, argument:
            case "beat", str(name):
                await cluster[name].leases.run_once()
            case "pass", float(duration_s):
                cluster.time.pass_s(duration_s)
            case "leave", str(name) if not cluster.store.is_down:
                await cluster[name].leases.leave()
            case "store", bool(is_down):
                cluster.store.is_down = is_down
            case "failover", None:
                cluster.store.fail_over()
        held = [each for member in cluster.members.values() for each in member.held]
        assert len(held) == len(set(held))


@pytest.mark.parametrize("timings", [TIMINGS, LeaseTimings()])
def test_a_lease_ends_before_the_stores(timings: LeaseTimings) -> None:
    """It is over here before it is in the store, and is renewed several times before."""
    assert timings.valid_s < timings.lease_ms / 1000
    assert 3 * timings.heartbeat_s < timings.valid_s


async def test_an_engine_without_a_plan_is_not_settled() -> None:
    """It has not planned its share before its first heartbeat, nor while the store is down."""
    cluster = Cluster("a", slots=4)
    leases = cluster["a"].leases
    assert not leases.is_settled
    cluster.store.is_down = True
    await cluster.run()
    assert not leases.is_settled
    cluster.store.is_down = False
    await cluster.run()
    assert (cluster.held(), leases.is_settled) == ({"a": 4}, False)
    await cluster.run()
    assert leases.is_settled
    assert leases.duties.of("pbx1") == NodeDuty(owns=True, supervises=True, hears=True)


async def test_retired_shards_are_kept_until_they_are_empty() -> None:
    """They get no engine again once nothing of their calls is left."""
    cluster = Cluster("a", "b", slots=4)
    await cluster.run(SETTLED_ROUNDS)
    owner = next(each for each in cluster.members.values() if THIRD in each.held)
    owner.host.live = {THIRD: 1}
    await cluster.store.set_slots(2)
    await cluster.run(SETTLED_ROUNDS)
    assert sum(cluster.held().values()) == 3
    assert THIRD in owner.held
    owner.host.live = {}
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"a": 1, "b": 1}
    await cluster.store.set_slots(8)
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"a": 4, "b": 4}
    assert all(member.leases.is_settled for member in cluster.members.values())


async def test_retired_shards_with_calls_are_shared() -> None:
    """A new engine gets its part of them; each moves once."""
    cluster = Cluster("a", slots=8)
    await cluster.run(SETTLED_ROUNDS)
    calls = dict.fromkeys(shards(*range(8)), 1)
    cluster.store.calls = cluster["a"].host.live = calls
    await cluster.store.set_slots(1)
    cluster.add_engine("b").host.live = calls
    await cluster.run(2 * SETTLED_ROUNDS)
    assert cluster.held() == {"a": 4, "b": 4}
    assert len(cluster["a"].host.shards_of("drop")) == 4
    assert all(member.leases.is_settled for member in cluster.members.values())


async def test_retired_shards_survive_the_loss_of_the_store() -> None:
    """Their calls are stored again: another engine has to find them when the owner dies."""
    cluster = Cluster("a", "b", slots=4)
    await cluster.run(SETTLED_ROUNDS)
    owner = next(name for name, each in cluster.members.items() if THIRD in each.held)
    cluster[owner].host.live = {THIRD: 1}
    await cluster.store.set_slots(2)
    await cluster.run(SETTLED_ROUNDS)
    cluster.store.lose_all()
    await cluster.run(SETTLED_ROUNDS)
    assert await cluster.store.shard_layout() == ShardLayout(2, 4, ("pbx1",))
    assert THIRD in cluster[owner].held


async def test_an_engine_with_another_number_of_slots() -> None:
    """It does not start: the number is the cluster's."""
    cluster = Cluster("a", slots=4)
    await cluster.run()
    with pytest.raises(SlotsMismatch, match=r"SWITCHROOM_SLOTS is 8, but .* 4 slots per node"):
        await ShardMap(8).check(cluster.store)
    await ShardMap(4).check(cluster.store)
