"""Supervisors and deputies of nodes."""

from collections import Counter
from collections.abc import Mapping

from engine.runtime.cluster.node_duties import NodeRoles, assign_roles
from engine.runtime.cluster.share_plan import EngineState, plan_shares
from wire.shard import ShardId

NODES = frozenset(f"pbx{number}" for number in range(50))
SLOTS = 4


def engines(count: int) -> dict[str, EngineState]:
    """Return engines without shards."""
    return {f"host-{number:x}": EngineState(1_000, nodes=NODES) for number in range(count)}


def shared(count: int) -> dict[str, EngineState]:
    """Return engines that have shared all shards, as `plan_shares` does."""
    free = {ShardId(node, slot): 0 for node in sorted(NODES) for slot in range(SLOTS)}
    plan = plan_shares(engines(count), free, {})
    return {
        name: EngineState(1_000, {shard: 0 for shard, to in plan.free.items() if to == name}, NODES)
        for name in engines(count)
    }


def count_roles(roles: Mapping[str, NodeRoles]) -> tuple[Counter[str], Counter[str]]:
    """Count the nodes that each engine supervises, and all its roles."""
    supervised = Counter(each.supervisor for each in roles.values())
    return supervised, supervised + Counter(each.deputy for each in roles.values())


def test_roles_are_balanced() -> None:
    """Twenty engines share the roles of fifty nodes: none has twice the average, or half of it."""
    states = shared(20)
    roles = assign_roles(states)
    assert roles.keys() == NODES
    supervised, counts = count_roles(roles)
    average = 2 * len(NODES) / len(states)
    assert max(supervised.values()) <= average
    assert all(average / 2 <= counts[name] <= 2 * average for name in states), counts


def test_owners_are_preferred() -> None:
    """Both roles of a node go to different engines that have shards of it, if there are two."""
    states = shared(20)
    owner_counts: Counter[int] = Counter()
    for node, roles in assign_roles(states).items():
        owners = {
            name for name, state in states.items() if any(s.node == node for s in state.shards)
        }
        owner_counts[len(owners)] += 1
        assert len(owners & {roles.supervisor, roles.deputy}) == min(2, len(owners))
        assert roles.supervisor != roles.deputy
    assert owner_counts[1] > 0
    assert owner_counts.total() > owner_counts[1]


def test_a_node_of_one_owner_has_a_deputy() -> None:
    """An engine without shards of a node is the deputy of the only one that has some."""
    states = engines(2)
    states["host-0"] = EngineState(1_000, {ShardId("pbx1", 0): 3, ShardId("pbx1", 1): 0}, NODES)
    assert assign_roles(states)["pbx1"] == NodeRoles("host-0", "host-1")


def test_an_engine_that_misses_a_node_has_no_role_there() -> None:
    states = engines(3)
    states["host-1"] = EngineState(1_000, {ShardId("pbx1", 0): 3}, NODES, frozenset({"pbx1"}))
    roles = assign_roles(states)["pbx1"]
    assert {roles.supervisor, roles.deputy} == {"host-0", "host-2"}


def test_a_single_engine_has_no_deputy() -> None:
    assert set(assign_roles(engines(1)).values()) == {NodeRoles("host-0")}
    assert assign_roles({}) == {}


def test_roles_follow_from_the_members_only() -> None:
    """The order of heartbeats does not matter; a death moves few roles of the others."""
    states = shared(20)
    before = assign_roles(states)
    assert assign_roles(dict(reversed(states.items()))) == before
    del states["host-7"]
    after = assign_roles(states)
    moved = [
        node
        for node in NODES
        if before[node] != after[node]
        and "host-7" not in {before[node].supervisor, before[node].deputy}
    ]
    assert len(moved) <= len(NODES) / 5, moved
