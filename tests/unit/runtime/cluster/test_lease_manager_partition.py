"""Shards when one engine, or every engine, can't reach a node."""

from engine.runtime.cluster.lease import LeaseTimings
from tests.harness.runtime.cluster_scene import SETTLED_ROUNDS, TIMINGS, Cluster
from wire.shard import ShardId

UNREACHABLE_ROUNDS = 3  # heartbeats, with one probe before each


def at(node: str, held: set[ShardId]) -> int:
    """Count the shards of a node."""
    return sum(shard.node == node for shard in held)


async def test_an_engine_that_lacks_a_node_releases_its_shards() -> None:
    """Those of this node all at once, as soon as it is sure; it claims none until it reaches it."""
    cluster = Cluster("a", "b", slots=4, nodes=("pbx1", "pbx2"))
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"a": 4, "b": 4}
    before = {name: member.held for name, member in cluster.members.items()}
    cluster["a"].unreachable = {"pbx1"}
    await cluster.run(UNREACHABLE_ROUNDS - 1)
    assert {name: member.held for name, member in cluster.members.items()} == before
    await cluster.run()
    assert at("pbx1", cluster["a"].held) == 0
    assert at("pbx1", cluster["b"].held) == 4
    await cluster.run(SETTLED_ROUNDS)
    assert {each.node for each in cluster["a"].held} == {"pbx2"}
    assert at("pbx1", cluster["b"].held) == 4
    assert cluster.held() == {"a": 4, "b": 4}
    assert set(cluster["a"].host.shards_of("drain")) == set(cluster["a"].host.shards_of("drop"))


async def test_engines_that_each_lack_another_node() -> None:
    """Each gives up the shards of its node, and nothing else."""
    cluster = Cluster("a", "b", "c", slots=4, nodes=("pbx1", "pbx2", "pbx3"))
    await cluster.run(SETTLED_ROUNDS)
    for member in cluster.members.values():
        member.host.lines.clear()
    cluster["a"].unreachable = {"pbx1"}
    cluster["b"].unreachable = {"pbx2"}
    await cluster.run(SETTLED_ROUNDS)
    assert at("pbx1", cluster["a"].held) == at("pbx2", cluster["b"].held) == 0
    assert sum(cluster.held().values()) == 12
    assert max(cluster.held().values()) <= 5
    dropped = cluster["a"].host.shards_of("drop")
    assert at("pbx1", set(dropped)) == len(dropped)


async def test_it_gets_its_share_again() -> None:
    """Shard by shard, once the node has replied for a while."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    cluster["a"].unreachable = {"pbx1"}
    await cluster.run(SETTLED_ROUNDS)
    cluster["a"].unreachable = set()
    await cluster.run(9)
    assert cluster.held() == {"a": 0, "b": 8}
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"a": 4, "b": 4}


async def test_a_node_that_no_engine_reaches() -> None:
    """A dead node moves no shard, neither while it is down nor when it is back."""
    cluster = Cluster("a", "b", slots=4, nodes=("pbx1", "pbx2"))
    await cluster.run(SETTLED_ROUNDS)
    for member in cluster.members.values():
        member.unreachable = {"pbx1"}
        member.host.lines.clear()
    await cluster.run(SETTLED_ROUNDS)
    cluster["b"].unreachable = set()
    await cluster.run(2)
    cluster["a"].unreachable = set()
    await cluster.run(2 * SETTLED_ROUNDS)
    assert cluster.held() == {"a": 4, "b": 4}
    assert cluster["a"].host.lines + cluster["b"].host.lines == []


async def test_shards_wait_for_an_engine_with_room() -> None:
    """Rather than overload another engine, theirs keeps them, though it can't reach the node."""
    cluster = Cluster(slots=2, nodes=("pbx1", "pbx2"))
    for name in "ab":
        cluster.add_engine(name, capacity=100)
    await cluster.run(SETTLED_ROUNDS)
    for calls in (15, 30, 45):  # so that an engine that knows it first gives the other one nothing
        for member in cluster.members.values():
            member.host.live = dict.fromkeys(member.held, calls)
        await cluster.run()
    cluster["a"].unreachable = {"pbx1"}
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"a": 2, "b": 2}
    cluster["b"].host.live = dict.fromkeys(cluster["b"].held, 5)
    await cluster.run(SETTLED_ROUNDS)
    assert at("pbx1", cluster["a"].held) == 0
    assert at("pbx1", cluster["b"].held) == 2


async def test_a_single_engine() -> None:
    """It keeps its shards, whichever nodes it can't reach."""
    cluster = Cluster("a", slots=4, nodes=("pbx1", "pbx2"))
    await cluster.run(SETTLED_ROUNDS)
    cluster["a"].unreachable = {"pbx1"}
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"a": 8}


async def test_the_engine_that_reaches_the_node_dies() -> None:
    """Its heartbeat counts until it expires; then the remaining engine gets all shards."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    cluster["a"].unreachable = {"pbx1"}
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"a": 0, "b": 8}
    await cluster.run(5, "a")
    assert cluster.held()["a"] == 8


async def test_an_engine_starts_without_a_connection() -> None:
    """It claims no shard while it can't reach a node that others reach."""
    cluster = Cluster("a")
    await cluster.run(SETTLED_ROUNDS)
    cluster.add_engine("b").unreachable = {"pbx1"}
    await cluster.run(SETTLED_ROUNDS)
    assert cluster["b"].host.shards_of("take") == []
    assert cluster.held() == {"a": 8, "b": 0}


def test_shards_are_released_within_a_lease() -> None:
    """Detection takes UNREACHABLE_ROUNDS heartbeats, which is less than a lease."""
    assert UNREACHABLE_ROUNDS * TIMINGS.heartbeat_s < LeaseTimings().lease_s
