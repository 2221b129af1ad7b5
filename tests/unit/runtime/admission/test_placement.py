"""Where calls go: by weight, live calls and health; what stands in the way, by its name."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from engine.runtime.admission.limits import TRUNK, CapacityLimits
from engine.runtime.admission.placement import NoCapacity, Placement
from engine.runtime.admission.settings import CallSettings
from engine.runtime.nodes.health import NodeHealth
from engine.runtime.nodes.node import Node
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.shard import CallShard
from tests.unit.calls.harness.builders import outbound, say
from tests.unit.runtime.harness.recording_pbx import RecordingPbx
from tests.unit.runtime.harness.shard_bench import (
    ENDPOINTS,
    ManualClock,
    ManualIoRunner,
    ManualWriter,
)


class Elsewhere:
    """Another engine, with calls of its own."""

    def __init__(self) -> None:
        self.engine_count = 1
        self.has: dict[str, int] = {}

    def calls(self, node: str) -> int:
        """Count what it has."""
        return self.has.get(node, 0)


class Lines:
    """Nodes of one slot under a placement."""

    def __init__(
        self, trunk: CapacityLimits = CapacityLimits(), gate: tuple[float, int] = (1000, 1000)
    ) -> None:
        self.clock = ManualClock()
        self.others = Elsewhere()
        self.writer = ManualWriter()
        self.health: dict[str, NodeHealth] = {}
        self.strained: set[str] = set()
        self.drained: set[str] = set()
        per_s, max_calls = gate
        settings = CallSettings(1, 1, trunk=trunk, max_calls=max_calls, max_calls_per_s=per_s)
        self.placement = Placement(
            self.clock, settings, self.others, drained=lambda: frozenset(self.drained)
        )

    def node(self, name: str, **terms: float) -> CallShard:
        """Add a node, heard."""
        place = ShardContext(name, 0, RecordingPbx(), ENDPOINTS)
        strain_ms: Callable[[], float] = lambda: 1000.0 if name in self.strained else 0.0  # noqa: E731 - one word
        pbx = RecordingPbx()
        node = Node(name, pbx, self.clock, lambda _d, _a: None, str, latency_ms=strain_ms)
        shard = CallShard(place, self.clock, self.writer, ManualIoRunner(), node)
        node.add_shard(0, shard)
        shard.resume()
        self.placement.nodes[name] = node
        self.health[name] = NodeHealth(self.clock)
        self.placement.configure(name, CapacityLimits(**terms), self.health[name])  # type: ignore[arg-type]  # whole numbers are floats here
        return shard

    def call(self, name: str | None = None, by_trunk: bool = True) -> str:
        """Place a call; name its node, or why there is none."""
        try:
            shard = self.placement.choose(name, 0, by_trunk)
        except NoCapacity as refusal:
            return refusal.code
        named = f"0-{shard.context.node}-{len(shard.actors):08}"
        shard.start_call(replace(outbound(say()), id=named))
        return shard.context.node


@pytest.mark.parametrize(
    ("weights", "placed"),
    [((1, 1), (4, 4)), ((3, 1), (6, 2)), ((1, 7), (1, 7)), ((0.5, 0.5), (4, 4))],
)
def test_calls_are_spread_by_weight(weights: tuple[float, float], placed: tuple[int, int]) -> None:
    """Each node has its share of the live calls."""
    lines = Lines()
    for name, weight in zip(("pbx1", "pbx2"), weights, strict=True):
        lines.node(name, weight=weight)
    where = [lines.call() for _ in range(8)]
    assert (where.count("pbx1"), where.count("pbx2")) == placed


def test_calls_of_other_engines_count() -> None:
    """A node that others keep busy gets fewer, and its limit is theirs, too."""
    lines = Lines()
    lines.node("pbx1", max_calls=5)
    lines.node("pbx2")
    lines.others.has = {"pbx1": 4}
    assert [lines.call() for _ in range(4)] == ["pbx2"] * 4
    assert [lines.call("pbx1"), lines.call("pbx1")] == ["pbx1", "node_full"]


def test_what_stands_against_a_node() -> None:
    """Each by its code; the other node gets the call; when the obstacle is gone it gets calls."""
    lines = Lines()
    shard = lines.node("pbx1")
    lines.node("pbx2", weight=0.001)
    health = lines.health["pbx1"]
    drained = lines.drained
    for code, begins, ends in (
        ("no_node", shard.pause, shard.resume),
        ("node_drained", lambda: drained.add("pbx1"), drained.clear),
        ("node_leaving", health.on_shutdown, health.on_booted),
        (
            "node_leaving",
            lambda: lines.placement.retiring.add("pbx1"),
            lines.placement.retiring.clear,
        ),
        ("overloaded", lambda: lines.strained.add("pbx1"), lines.strained.clear),
    ):
        assert lines.call() == "pbx1"
        begins()
        assert (lines.call("pbx1"), lines.call()) == (code, "pbx2")
        obstacle = lines.placement.unavailable(lines.placement.nodes["pbx1"])
        assert obstacle is not None
        assert obstacle.code == code
        if code != "no_node":  # who is not heard offers nothing
            offered = lines.placement.admit(shard, by_trunk=True)
            assert offered is not None
            assert offered.code == code
        ends()


def test_an_unreachable_trunk_is_for_calls_on_it_alone() -> None:
    """Agents are called there, and what the trunk brings is taken in."""
    lines = Lines()
    shard = lines.node("pbx1")
    lines.health["pbx1"].on_contact("trunk", "sip:a", is_reachable=False)
    assert lines.call() == "trunk_away"
    assert lines.call(by_trunk=False) == "pbx1"
    assert lines.placement.admit(shard, by_trunk=True) is None
    lines.health["pbx1"].on_contact("trunk", "sip:b", is_reachable=True)
    assert lines.call() == "pbx1"


def test_a_nodes_rate_is_shared_by_the_engines() -> None:
    """Four a second are two for each of two engines; the next go elsewhere."""
    lines = Lines()
    lines.others.engine_count = 2
    lines.node("pbx1", max_calls_per_s=4)
    assert [lines.call() for _ in range(3)] == ["pbx1", "pbx1", "node_rate"]
    lines.clock.pass_ms(500)
    assert [lines.call(), lines.call()] == ["pbx1", "node_rate"]
    lines.node("pbx2", weight=0.001)
    assert lines.call() == "pbx2"


def test_a_rate_below_one_lets_calls_through() -> None:
    """One a second among three engines: one every three seconds."""
    lines = Lines()
    lines.others.engine_count = 3
    lines.node("pbx1", max_calls_per_s=1)
    assert [lines.call(), lines.call()] == ["pbx1", "node_rate"]
    lines.clock.pass_ms(3_001)
    assert lines.call() == "pbx1"


def test_the_trunks_limits_are_of_all_nodes_and_engines() -> None:
    """Legs to agents don't count; those of other engines do."""
    lines = Lines(CapacityLimits(max_calls=3))
    lines.node("pbx1")
    lines.node("pbx2")
    lines.others.has = {TRUNK: 1}
    assert [lines.call(), lines.call(), lines.call()] == ["pbx1", "pbx2", "trunk_full"]
    assert lines.call(by_trunk=False) == "pbx1"
    lines.others.has = {}
    lines.clock.pass_ms(1_000)
    assert lines.placement.trunk_legs == 3  # the leg is to a number, whatever was asked
    rate = Lines(CapacityLimits(max_calls_per_s=1))
    rate.node("pbx1")
    assert [rate.call(), rate.call()] == ["pbx1", "trunk_rate"]


def test_a_full_engine_takes_none() -> None:
    """It says which limit: calls at once, or new ones a second."""
    full = Lines(gate=(1000, 1))
    full.node("pbx1")
    assert [full.call(), full.call()] == ["pbx1", "overloaded"]
    with pytest.raises(NoCapacity, match="has its 1 calls"):
        full.placement.choose(None, 0, by_trunk=True)
    fast = Lines(gate=(1, 1000))
    fast.node("pbx1")
    assert [fast.call(), fast.call()] == ["pbx1", "overloaded"]
    with pytest.raises(NoCapacity, match="takes 1 new calls a second"):
        fast.placement.choose(None, 0, by_trunk=True)


def test_a_refusal_names_all_that_stood_in_the_way() -> None:
    """Its code is that of the node which came nearest; it says when to ask again."""
    lines = Lines()
    lines.node("pbx1").pause()
    lines.node("pbx2", max_calls=1)
    assert lines.call() == "pbx2"
    with pytest.raises(
        NoCapacity, match=r"pbx1 is not connected; .*pbx2 has its 1 calls"
    ) as refusal:
        lines.placement.choose(None, 0, by_trunk=True)
    assert (refusal.value.code, refusal.value.retry_after_s) == ("node_full", 1)
    assert Lines().call() == "no_node"
