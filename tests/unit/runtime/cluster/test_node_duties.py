"""What an engine does for each node, as heartbeats tell."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from engine.runtime.cluster.membership import Membership, Peer
from engine.runtime.cluster.node_duties import (
    LINGER_S,
    NO_DUTY,
    NodeDuties,
    NodeDuty,
    NodeRoles,
    assign_roles,
)
from engine.runtime.cluster.share_plan import EngineState, plan_shares
from wire.shard import ShardId

OWNED = ShardId("pbx1", 0)


class Scene:
    """The duties of one engine, and a clock moved by the test."""

    def __init__(self, me: str) -> None:
        self.now_s = 0.0
        self.members = Membership(me)
        self.duties = NodeDuties(self.members, lambda: self.now_s)

    def hear(self, *held: ShardId, **owned: tuple[ShardId, ...]) -> NodeDuty:
        """Update from heartbeats of engines with these shards; return the duty for pbx1."""
        alive = {
            name: Peer(
                f"http://{name}",
                {str(shard): 0 for shard in shards},
                reachable=("pbx1",),
            )
            for name, shards in owned.items()
        }
        self.members.update({k: msgspec.json.encode(each).decode() for k, each in alive.items()})
        self.duties.update({"pbx1"}, held)
        return self.duties.of("pbx1")


def test_an_owner_supervises_its_node() -> None:
    """The only owner has both the node's calls and its other work; the other engine hears it."""
    assert Scene("one").hear(OWNED, one=(OWNED,), two=()) == NodeDuty(True, True, True)
    assert Scene("two").hear(one=(OWNED,), two=()) == NodeDuty(hears=True)


def test_a_third_engine_is_not_connected() -> None:
    """Of four engines, one owns the shards, another one is its deputy, and two do nothing."""
    engines = {"one": (OWNED,), "two": (), "three": (), "four": ()}
    duties = [Scene(name).hear(**engines) for name in ("two", "three", "four")]
    assert sorted(each.hears for each in duties) == [False, False, True]


def test_a_former_deputy_hears_on_for_a_while() -> None:
    """It is asked by the engine that takes over, whatever its role is by then."""
    scene = Scene("two")
    assert scene.hear(one=(OWNED,), two=()).hears
    others = {"one": (OWNED,), "three": (ShardId("pbx1", 1),), "two": ()}
    scene.now_s += LINGER_S - 0.5
    assert scene.hear(**others) == NodeDuty(hears=True)
    scene.now_s += 1
    assert scene.hear(**others) == NO_DUTY


def test_changes_are_announced() -> None:
    """Heartbeats with other numbers of calls, but the same shards, change nothing."""
    scene = Scene("one")
    scene.hear(OWNED, one=(OWNED,))
    assert scene.duties.changed.is_set()
    scene.duties.changed.clear()
    scene.hear(OWNED, one=(OWNED,))
    assert not scene.duties.changed.is_set()
    scene.hear(OWNED, one=(OWNED,), two=())
    assert not scene.duties.changed.is_set()


def test_an_unknown_node_is_no_duty() -> None:
    assert Scene("one").duties.of("pbx9") == NO_DUTY


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
