"""Selection of a node: by weight, live calls and health; and why there is no capacity."""

import pytest

from engine.runtime.admission.no_capacity import NoCapacity
from engine.runtime.policy.capacity_limits import TRUNK, CapacityLimits
from tests.unit.runtime.harness.node_selection_bench import Bench
from wire.shard import ShardId


def test_a_call_is_passed_on_by_a_full_engine() -> None:
    """To an engine at a preferred node, or else at any that is open."""
    bench = Bench(rate=(1000, 1))
    for name in ("pbx1", "pbx2", "pbx3"):
        bench.node(name)
    assert [bench.call("pbx1"), bench.call()] == ["pbx1", "overloaded"]
    bench.others.shards = {ShardId("pbx1", 0), ShardId("pbx2", 0)}
    assert [bench.call(), bench.call("pbx3")] == ["(pbx1)", "overloaded"]
    assert [bench.call(None, True, "pbx2"), bench.call(None, True, "pbx3")] == ["(pbx2)", "(pbx1)"]
    bench.drained = {"pbx1"}
    assert bench.call() == "(pbx2)"


@pytest.mark.parametrize(
    ("weights", "placed"),
    [((1, 1), (4, 4)), ((3, 1), (6, 2)), ((1, 7), (1, 7)), ((0.5, 0.5), (4, 4))],
)
def test_calls_are_spread_by_weight(weights: tuple[float, float], placed: tuple[int, int]) -> None:
    """Each node has its share of the live calls."""
    bench = Bench()
    for name, weight in zip(("pbx1", "pbx2"), weights, strict=True):
        bench.node(name, weight=weight)
    where = [bench.call() for _ in range(8)]
    assert (where.count("pbx1"), where.count("pbx2")) == placed


def test_calls_of_other_engines_count() -> None:
    """They count for a node's load, and towards its limit."""
    bench = Bench()
    bench.node("pbx1", max_calls=5)
    bench.node("pbx2")
    bench.others.counts = {"pbx1": 4}
    assert [bench.call() for _ in range(4)] == ["pbx2"] * 4
    assert [bench.call("pbx1"), bench.call("pbx1")] == ["pbx1", "node_full"]


def test_a_call_is_passed_on_to_a_node_with_less_load() -> None:
    """Only if another engine has a shard there, the node is open, and its load is clearly lower."""
    bench = Bench()
    bench.node("pbx1")
    bench.node("pbx2", weight=2)
    bench.node_selection.nodes["pbx2"].remove_shard(0)
    assert bench.call() == "pbx1"  # no engine has a shard of pbx2
    bench.others.shards = {ShardId("pbx2", 0)}
    bench.others.counts = {"pbx2": 2}
    assert bench.call() == "(pbx2)"  # loads of 2 and 3 / 2, then 7 / 2: the others did the same
    assert bench.call() == "pbx1"
    bench.others.passed = {}
    bench.drained.add("pbx2")
    assert bench.call() == "pbx1"
    bench.drained.clear()
    assert bench.call("pbx1") == "pbx1"
    assert bench.call(None, True, "pbx1") == "pbx1"
    assert bench.node_selection.choose(None, by_trunk=True).context.node == "pbx1"
    bench.others.counts = {"pbx2": 10}  # 11 / 2 is not clearly less than 6
    assert bench.call() == "pbx1"


def test_an_unavailable_node() -> None:
    """Each reason has its code, and moves calls to the other node while it lasts."""
    bench = Bench()
    shard = bench.node("pbx1")
    bench.node("pbx2", weight=0.001)
    health = bench.health["pbx1"]
    drained = bench.drained
    for code, begins, ends in (
        ("no_node", shard.pause, shard.resume),
        ("node_drained", lambda: drained.add("pbx1"), drained.clear),
        ("node_leaving", health.on_shutdown, health.on_booted),
        (
            "node_leaving",
            lambda: bench.node_selection.retiring.add("pbx1"),
            bench.node_selection.retiring.clear,
        ),
        ("overloaded", lambda: bench.overloaded.add("pbx1"), bench.overloaded.clear),
    ):
        assert bench.call() == "pbx1"
        begins()
        assert (bench.call("pbx1"), bench.call()) == (code, "pbx2")
        reason = bench.node_selection.unavailable(bench.node_selection.nodes["pbx1"])
        assert reason is not None
        assert reason.code == code
        if code != "no_node":  # a disconnected node has no incoming channels
            offered = bench.node_selection.admit(shard, by_trunk=True)
            assert offered is not None
            assert offered.code == code
        ends()


def test_an_unreachable_trunk_blocks_outbound_trunk_calls_only() -> None:
    """Agents are called, and inbound calls are admitted."""
    bench = Bench()
    shard = bench.node("pbx1")
    bench.health["pbx1"].on_contact("trunk", "sip:a", is_reachable=False)
    assert bench.call() == "trunk_away"
    assert bench.call(by_trunk=False) == "pbx1"
    assert bench.node_selection.admit(shard, by_trunk=True) is None
    bench.health["pbx1"].on_contact("trunk", "sip:b", is_reachable=True)
    assert bench.call() == "pbx1"


def test_a_nodes_rate_is_shared_by_the_engines() -> None:
    """Four a second are two for each of two engines; further calls go to another node."""
    bench = Bench()
    bench.others.part = 1 / 2
    bench.node("pbx1", max_calls_per_s=4)
    assert [bench.call() for _ in range(3)] == ["pbx1", "pbx1", "node_rate"]
    bench.clock.pass_ms(500)
    assert [bench.call(), bench.call()] == ["pbx1", "node_rate"]
    bench.node("pbx2", weight=0.001)
    assert bench.call() == "pbx2"


def test_a_rate_below_one_lets_calls_through() -> None:
    """One a second among three engines: one every three seconds."""
    bench = Bench()
    bench.others.part = 1 / 3
    bench.node("pbx1", max_calls_per_s=1)
    assert [bench.call(), bench.call()] == ["pbx1", "node_rate"]
    bench.clock.pass_ms(3_001)
    assert bench.call() == "pbx1"


def test_the_trunks_limits_count_all_nodes_and_engines() -> None:
    """Legs to agents do not count; those of other engines do."""
    bench = Bench(CapacityLimits(max_calls=3))
    bench.node("pbx1")
    bench.node("pbx2")
    bench.others.counts = {TRUNK: 1}
    assert [bench.call(), bench.call(), bench.call()] == ["pbx1", "pbx2", "trunk_full"]
    assert bench.call(by_trunk=False) == "pbx1"
    bench.others.counts = {}
    bench.clock.pass_ms(1_000)
    assert bench.node_selection.legs.on_trunk == 3  # the leg is to a number, whatever was requested
    rate = Bench(CapacityLimits(max_calls_per_s=1))
    rate.node("pbx1")
    assert [rate.call(), rate.call()] == ["pbx1", "trunk_rate"]


def test_a_full_engine_takes_none() -> None:
    """It names the limit, and a rejection uses nothing up."""
    full = Bench(rate=(1000, 1))
    shard = full.node("pbx1")
    assert [full.call(), full.call()] == ["pbx1", "overloaded"]
    with pytest.raises(NoCapacity, match="has its 1 calls"):
        full.node_selection.count_outbound(shard, by_trunk=True)
    assert full.node_selection.rate_limiter.available == 999
    fast = Bench(rate=(1, 1000))
    shard = fast.node("pbx1")
    assert [fast.call(), fast.call()] == ["pbx1", "overloaded"]
    with pytest.raises(NoCapacity, match="takes 1 new calls a second"):
        fast.node_selection.count_outbound(shard, by_trunk=True)


def test_a_rejection_names_all_reasons() -> None:
    """Its code is of the node that came closest; it says when to retry."""
    bench = Bench()
    bench.node("pbx1").pause()
    bench.node("pbx2", max_calls=1)
    assert bench.call() == "pbx2"
    with pytest.raises(NoCapacity, match=r"pbx1 is not connected; .*pbx2 has its 1 calls") as error:
        bench.node_selection.choose(None, by_trunk=True)
    assert (error.value.code, error.value.retry_after_s) == ("node_full", 1)
    assert Bench().call() == "no_node"


def test_a_preferred_node_gets_the_call_while_it_has_room() -> None:
    """Whatever the weights; a full or drained one does not, and neither does an unknown one."""
    bench = Bench()
    for name in ("pbx1", "pbx2"):
        bench.node(name, weight=1 if name == "pbx2" else 100, max_calls=2)
    assert [bench.call(None, False, "pbx2") for _ in range(3)] == ["pbx2", "pbx2", "pbx1"]
    assert bench.call("pbx1", False, "pbx2") == "pbx1"
    other = Bench()
    other.node("pbx1")
    other.node("pbx2")
    other.drained.add("pbx2")
    assert other.call(None, False, "pbx2", "pbx9") == "pbx1"


def test_an_inbound_call_at_the_limit_of_the_trunk() -> None:
    """It is refused like an outbound one; a call that is not from the trunk is admitted."""
    bench = Bench(trunk=CapacityLimits(max_calls=2))
    shard = bench.node("pbx1")
    bench.others.counts[TRUNK] = 2
    refused = bench.node_selection.admit(shard, True)
    assert refused is not None
    assert refused.code == "trunk_full"
    assert bench.node_selection.admit(shard, False) is None
