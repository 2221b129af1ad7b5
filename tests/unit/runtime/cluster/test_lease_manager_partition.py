"""Slots when one engine, or every engine, can't reach a node."""

from engine.runtime.cluster.lease import LeaseTimings
from tests.unit.runtime.harness.cluster_bench import TIMINGS, Cluster

SETTLED_ROUNDS = 20
UNREACHABLE_ROUNDS = 3  # heartbeats, with one probe before each


async def test_an_engine_that_lacks_a_node_releases_all_slots() -> None:
    """All at once, as soon as it is sure; it claims none until it reaches the node again."""
    cluster = Cluster("a", "b", nodes=("pbx1", "pbx2"))
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"a": 4, "b": 4}
    cluster["a"].unreachable = {"pbx1"}
    await cluster.run(UNREACHABLE_ROUNDS - 1)
    assert cluster.held() == {"a": 4, "b": 4}
    await cluster.run()
    assert cluster.held() == {"a": 0, "b": 8}
    assert set(cluster["a"].host.slots_of("drain")) >= set(cluster["a"].host.slots_of("drop"))
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"a": 0, "b": 8}


async def test_it_gets_its_share_again() -> None:
    """Slot by slot, once the node has replied for a while."""
    cluster = Cluster("a", "b", nodes=("pbx1",))
    await cluster.run(SETTLED_ROUNDS)
    cluster["a"].unreachable = {"pbx1"}
    await cluster.run(SETTLED_ROUNDS)
    cluster["a"].unreachable = set()
    await cluster.run(9)
    assert cluster.held() == {"a": 0, "b": 8}
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"a": 4, "b": 4}


async def test_a_node_that_no_engine_reaches() -> None:
    """A dead node moves no slots, neither while it is down nor when it is back."""
    cluster = Cluster("a", "b", nodes=("pbx1", "pbx2"))
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


async def test_a_single_engine() -> None:
    """It keeps its slots, whichever nodes it can't reach."""
    cluster = Cluster("a", nodes=("pbx1", "pbx2"))
    await cluster.run(SETTLED_ROUNDS)
    cluster["a"].unreachable = {"pbx1"}
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"a": 8}


async def test_the_engine_that_reaches_the_node_dies() -> None:
    """Its heartbeat counts until it expires; then the remaining engine gets all slots."""
    cluster = Cluster("a", "b", nodes=("pbx1",))
    await cluster.run(SETTLED_ROUNDS)
    cluster["a"].unreachable = {"pbx1"}
    await cluster.run(SETTLED_ROUNDS)
    assert cluster.held() == {"a": 0, "b": 8}
    await cluster.run(5, "a")
    assert cluster.held()["a"] == 8


async def test_an_engine_starts_without_a_connection() -> None:
    """It claims no slot while it can't reach a node that others reach."""
    cluster = Cluster("a", nodes=("pbx1",))
    await cluster.run(SETTLED_ROUNDS)
    cluster.add_engine("b").unreachable = {"pbx1"}
    await cluster.run(SETTLED_ROUNDS)
    assert cluster["b"].host.slots_of("take") == []
    assert cluster.held() == {"a": 8, "b": 0}


def test_slots_are_released_within_a_lease() -> None:
    """Detection takes UNREACHABLE_ROUNDS heartbeats, which is less than a lease."""
    assert UNREACHABLE_ROUNDS * TIMINGS.heartbeat_s < LeaseTimings().lease_s
