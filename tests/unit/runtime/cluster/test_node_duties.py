"""What an engine does for each node, as heartbeats tell."""

import msgspec

from engine.runtime.cluster.membership import Membership, Peer
from engine.runtime.cluster.node_duties import LINGER_S, NO_DUTY, NodeDuties, NodeDuty
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
