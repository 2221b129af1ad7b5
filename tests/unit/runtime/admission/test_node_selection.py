"""Selection of a node: by weight, live calls and health; and why there is no capacity."""

import pytest
from msgspec.structs import replace

from engine.runtime.admission.node_selection import NoCapacity
from engine.runtime.base.node_report import NodeReport
from engine.runtime.cluster.lease import Lease
from engine.runtime.policy.capacity_limits import TRUNK, CapacityLimits
from engine.runtime.shard.shard import CallShard
from engine.store.shard_layout import ShardLayout
from tests.harness.calls.builders import outbound
from tests.harness.runtime.node_selection_scene import Scene
from tests.harness.runtime.shard_scene import ManualIoRunner
from wire.shard import ShardId


def test_a_call_is_passed_on_by_a_full_engine() -> None:
    """To an engine at a preferred node, or else at any that is open."""
    scene = Scene(rate=(1000, 1))
    for name in ("pbx1", "pbx2", "pbx3"):
        scene.node(name)
    assert [scene.call("pbx1"), scene.call()] == ["pbx1", "overloaded"]
    scene.others.shards = {ShardId("pbx1", 0), ShardId("pbx2", 0)}
    assert [scene.call(), scene.call("pbx3")] == ["(pbx1)", "overloaded"]
    assert [scene.call(None, True, "pbx2"), scene.call(None, True, "pbx3")] == ["(pbx2)", "(pbx1)"]
    scene.drained = {"pbx1"}
    assert scene.call() == "(pbx2)"


@pytest.mark.parametrize(
    ("weights", "placed"),
    [((1, 1), (4, 4)), ((3, 1), (6, 2)), ((1, 7), (1, 7)), ((0.5, 0.5), (4, 4))],
)
def test_calls_are_spread_by_weight(weights: tuple[float, float], placed: tuple[int, int]) -> None:
    """Each node has its share of the live calls."""
    scene = Scene()
    for name, weight in zip(("pbx1", "pbx2"), weights, strict=True):
        scene.node(name, weight=weight)
    where = [scene.call() for _ in range(8)]
    assert (where.count("pbx1"), where.count("pbx2")) == placed


def test_calls_of_other_engines_count() -> None:
    """They count for a node's load, and towards its limit."""
    scene = Scene()
    scene.node("pbx1", max_calls=5)
    scene.node("pbx2")
    scene.others.counts = {"pbx1": 4}
    assert [scene.call() for _ in range(4)] == ["pbx2"] * 4
    assert [scene.call("pbx1"), scene.call("pbx1")] == ["pbx1", "node_full"]


def test_a_call_is_passed_on_to_a_node_with_less_load() -> None:
    """Only if another engine has a shard there, the node is open, and its load is clearly lower."""
    scene = Scene()
    scene.node("pbx1")
    scene.node("pbx2", weight=2)
    scene.node_selection.nodes["pbx2"].remove_shard(0)
    assert scene.call() == "pbx1"  # no engine has a shard of pbx2
    scene.others.shards = {ShardId("pbx2", 0)}
    scene.others.counts = {"pbx2": 2}
    assert scene.call() == "(pbx2)"  # loads of 2 and 3 / 2, then 7 / 2: the others did the same
    assert scene.call() == "pbx1"
    scene.others.passed = {}
    scene.drained.add("pbx2")
    assert scene.call() == "pbx1"
    scene.drained.clear()
    assert scene.call("pbx1") == "pbx1"
    assert scene.call(None, True, "pbx1") == "pbx1"
    assert scene.node_selection.choose(None, by_trunk=True).context.node == "pbx1"
    scene.others.counts = {"pbx2": 10}  # 11 / 2 is not clearly less than 6
    assert scene.call() == "pbx1"


def test_an_unavailable_node() -> None:
    """Each reason has its code, and moves calls to the other node while it lasts."""
    scene = Scene()
    shard = scene.node("pbx1")
    scene.node("pbx2", weight=0.001)
    health = scene.health["pbx1"]
    drained = scene.drained
    for code, begins, ends in (
        ("no_node", shard.pause, shard.resume),
        ("node_drained", lambda: drained.add("pbx1"), drained.clear),
        ("node_leaving", health.on_shutdown, health.on_booted),
        (
            "node_leaving",
            lambda: scene.node_selection.retiring.add("pbx1"),
            scene.node_selection.retiring.clear,
        ),
        ("overloaded", lambda: scene.overloaded.add("pbx1"), scene.overloaded.clear),
    ):
        assert scene.call() == "pbx1"
        begins()
        assert (scene.call("pbx1"), scene.call()) == (code, "pbx2")
        reason = scene.node_selection.unavailable(scene.node_selection.nodes["pbx1"])
        assert reason is not None
        assert reason.code == code
        if code != "no_node":  # a disconnected node has no incoming channels
            offered = scene.node_selection.admit(shard, by_trunk=True)
            assert offered is not None
            assert offered.code == code
        ends()


def test_an_engine_without_its_store() -> None:
    """Its lease is over, so its shards are paused, although the node is there."""
    scene = Scene()
    shard = scene.node("pbx1")
    shard.context = replace(shard.context, lease=Lease(1, 0.0, lambda: 1.0))
    assert shard.is_paused
    assert scene.call() == "store_down"
    reason = scene.node_selection.unavailable(scene.node_selection.nodes["pbx1"])
    assert reason is not None
    assert (reason.code, reason.detail) == ("store_down", "calls can't be stored now")


def test_an_unreachable_trunk_blocks_outbound_trunk_calls_only() -> None:
    """Agents are called, and inbound calls are admitted."""
    scene = Scene()
    shard = scene.node("pbx1")
    scene.health["pbx1"].on_contact("trunk", "sip:a", is_reachable=False)
    assert scene.call() == "trunk_away"
    assert scene.call(by_trunk=False) == "pbx1"
    assert scene.node_selection.admit(shard, by_trunk=True) is None
    scene.health["pbx1"].on_contact("trunk", "sip:b", is_reachable=True)
    assert scene.call() == "pbx1"


def test_a_nodes_rate_is_shared_by_the_engines() -> None:
    """Four a second are two for each of two engines; further calls go to another node."""
    scene = Scene()
    scene.others.part = 1 / 2
    scene.node("pbx1", max_calls_per_s=4)
    assert [scene.call() for _ in range(3)] == ["pbx1", "pbx1", "node_rate"]
    scene.clock.pass_ms(500)
    assert [scene.call(), scene.call()] == ["pbx1", "node_rate"]
    scene.node("pbx2", weight=0.001)
    assert scene.call() == "pbx2"


def test_a_rate_below_one_lets_calls_through() -> None:
    """One a second among three engines: one every three seconds."""
    scene = Scene()
    scene.others.part = 1 / 3
    scene.node("pbx1", max_calls_per_s=1)
    assert [scene.call(), scene.call()] == ["pbx1", "node_rate"]
    scene.clock.pass_ms(3_001)
    assert scene.call() == "pbx1"


def test_the_trunks_limits_count_all_nodes_and_engines() -> None:
    """Legs to agents do not count; those of other engines do."""
    scene = Scene(CapacityLimits(max_calls=3))
    scene.node("pbx1")
    scene.node("pbx2")
    scene.others.counts = {TRUNK: 1}
    assert [scene.call(), scene.call(), scene.call()] == ["pbx1", "pbx2", "trunk_full"]
    assert scene.call(by_trunk=False) == "pbx1"
    scene.others.counts = {}
    scene.clock.pass_ms(1_000)
    assert scene.node_selection.legs.on_trunk == 3  # the leg is to a number, whatever was requested
    rate = Scene(CapacityLimits(max_calls_per_s=4))
    rate.node("pbx1")
    assert [rate.call() for _ in range(3)] == ["pbx1", "pbx1", "trunk_rate"]


def test_a_full_engine_takes_none() -> None:
    """It names the limit, and a rejection uses nothing up."""
    full = Scene(rate=(1000, 1))
    shard = full.node("pbx1")
    assert [full.call(), full.call()] == ["pbx1", "overloaded"]
    with pytest.raises(NoCapacity, match="has its 1 calls"):
        full.node_selection.count_outbound(shard, by_trunk=True)
    assert full.node_selection.rate_limiter.available == 999
    fast = Scene(rate=(1, 1000))
    shard = fast.node("pbx1")
    assert [fast.call(), fast.call()] == ["pbx1", "overloaded"]
    with pytest.raises(NoCapacity, match="takes 1 new calls a second"):
        fast.node_selection.count_outbound(shard, by_trunk=True)


def test_a_rejection_names_all_reasons() -> None:
    """Its code is of the node that came closest; it says when to retry."""
    scene = Scene()
    scene.node("pbx1").pause()
    scene.node("pbx2", max_calls=1)
    assert scene.call() == "pbx2"
    with pytest.raises(NoCapacity, match=r"pbx1 is not connected; .*pbx2 has its 1 calls") as error:
        scene.node_selection.choose(None, by_trunk=True)
    assert (error.value.code, error.value.retry_after_s) == ("node_full", 1)
    assert Scene().call() == "no_node"


def test_a_preferred_node_gets_the_call_while_it_has_room() -> None:
    """Whatever the weights; a full or drained one does not, and neither does an unknown one."""
    scene = Scene()
    for name in ("pbx1", "pbx2"):
        scene.node(name, weight=1 if name == "pbx2" else 100, max_calls=2)
    assert [scene.call(None, False, "pbx2") for _ in range(3)] == ["pbx2", "pbx2", "pbx1"]
    assert scene.call("pbx1", False, "pbx2") == "pbx1"
    other = Scene()
    other.node("pbx1")
    other.node("pbx2")
    other.drained.add("pbx2")
    assert other.call(None, False, "pbx2", "pbx9") == "pbx1"
    other.drained.clear()
    other.node_selection.nodes["pbx2"].shards[0].pause()
    other.others.shards = {ShardId("pbx2", 0)}
    assert other.call(None, False, "pbx2") == "pbx1"  # this engine's shard of it is connected soon


def test_an_inbound_call_counts_for_the_rate() -> None:
    """An outbound one in the same second finds the node's rate reached."""
    scene = Scene()
    shard = scene.node("pbx1", max_calls_per_s=2)
    assert scene.node_selection.admit(shard, True) is None
    assert [scene.call("pbx1"), scene.call("pbx1")] == ["pbx1", "node_rate"]


def test_an_inbound_call_at_the_limit_of_the_trunk() -> None:
    """It is refused like an outbound one; a call that is not from the trunk is admitted."""
    scene = Scene(trunk=CapacityLimits(max_calls=2))
    shard = scene.node("pbx1")
    scene.others.counts[TRUNK] = 2
    refused = scene.node_selection.admit(shard, True)
    assert refused is not None
    assert refused.code == "trunk_full"
    assert scene.node_selection.admit(shard, False) is None


def test_a_node_of_which_only_another_engine_has_a_shard() -> None:
    """That engine chooses: if it is the only node, or preferred, or has room as none here has."""
    scene = Scene()
    scene.node("pbx1", max_calls=2)
    scene.node("pbx2", weight=0.001)
    scene.node_selection.nodes["pbx2"].remove_shard(0)
    assert [scene.call("pbx2"), scene.call(None, True, "pbx2")] == ["[None]", "pbx1"]
    scene.others.shards = {ShardId("pbx2", 0)}
    assert [scene.call("pbx2"), scene.call("pbx3")] == ["[pbx2]", "no_node"]
    assert [scene.call(None, True, "pbx2"), scene.call(), scene.call()] == [
        "[pbx2]", "pbx1", "[pbx2]",
    ]  # fmt: skip
    assert scene.call("pbx1") == "node_full"
    scene.health["pbx2"].on_contact("trunk", "sip:a", is_reachable=False)
    assert [scene.call(), scene.call(by_trunk=False)] == ["node_full", "[pbx2]"]
    scene.drained.add("pbx2")
    assert scene.call(None, False, "pbx2") == "node_full"


def test_a_full_engine_that_may_not_pass_a_call_on() -> None:
    """It says that it is full."""
    scene = Scene(rate=(1000, 0))
    scene.node("pbx1")
    scene.others.shards = {ShardId("pbx1", 0)}
    with pytest.raises(NoCapacity, match="has its 0 calls"):
        scene.node_selection.choose(None, by_trunk=True)
    assert scene.call() == "(pbx1)"


def test_the_slot_of_a_call() -> None:
    """The one with the fewest calls of those that are connected, get new calls and stay here."""
    scene = Scene()
    scene.shards.layout = ShardLayout(3, 4, ())
    first = scene.node("pbx1")
    node = scene.node_selection.nodes["pbx1"]
    for slot in (1, 2, 3):
        context = replace(first.context, slot=slot)
        shard = CallShard(context, scene.clock, scene.writer, ManualIoRunner(), node)
        node.add_shard(slot, shard)
        shard.resume()
    for slot in (0, 0, 1):
        call = replace(outbound(), id=f"{slot}-pbx1-{len(node.shards[slot].calls)}")
        node.shards[slot].start_call(call)

    def chosen() -> int:
        return scene.node_selection.choose(None, by_trunk=True).context.slot

    assert chosen() == 2
    node.shards[2].pause()
    assert chosen() == 1
    scene.node_selection.releasing.add(ShardId("pbx1", 1))
    assert chosen() == 0
    assert scene.node_selection.live_calls == len(list(scene.node_selection.calls())) == 3


WATCHED, LEAVING = NodeReport(is_watched=True), NodeReport(is_shutting_down=True)


@pytest.mark.parametrize(
    ("reported", "seen", "known"),
    [
        (None, ["on_shutdown"], LEAVING),
        (WATCHED, [], WATCHED),
        (WATCHED, ["on_shutdown"], WATCHED),
        (LEAVING, [], LEAVING),
        (NodeReport(), ["on_shutdown"], LEAVING),
        (LEAVING, ["on_booted"], WATCHED),
    ],
)
def test_the_health_of_a_node(
    reported: NodeReport | None, seen: list[str], known: NodeReport
) -> None:
    """It is what the engine knows that watches the node, else what this one has seen last."""
    scene = Scene()
    scene.node("pbx1")
    scene.node("pbx2")
    if reported is not None:
        scene.others.reports["pbx1"] = reported
    for each in seen:
        getattr(scene.health["pbx1"], each)()
    assert scene.node_selection.health("pbx1") == known
    assert scene.node_selection.own_reports().keys() == {"pbx1"} & {*(["pbx1"] if seen else [])}
