"""A selection of nodes with one slot each, beside other engines whose load the test sets."""

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.admission.node_selection import NoCapacity, NodeSelection
from engine.runtime.base.node_report import NodeReport
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.pbx_nodes.node_health import NodeHealth
from engine.runtime.pbx_nodes.refers import no_extensions
from engine.runtime.policy.capacity_limits import UNLIMITED, CapacityLimits, SingleEngine
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.control_requests import LighterLoadElsewhere, NotOwner
from engine.runtime.shard.shard import CallShard
from tests.harness.calls.builders import outbound, say
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.runtime.shard_scene import (
    ENDPOINTS,
    ManualClock,
    ManualIoRunner,
    ManualWriter,
)
from wire.shard import ShardId


class OtherEngines(SingleEngine):
    """Other engines' load, set by the test."""

    def __init__(self) -> None:
        self.part = 1.0  # of the nodes' new calls
        self.shards: set[ShardId] = set()
        self.counts: dict[str, int] = {}
        self.passed: dict[str, int] = {}
        self.reports: dict[str, NodeReport] = {}
        self.engine_count = 2

    def calls(self, node: str) -> int:
        return self.counts.get(node, 0)

    def rate_share(self, _node: str) -> float:
        return self.part

    def owner_at(self, nodes: Iterable[str], slots: int) -> ShardId | None:
        names = frozenset(nodes)
        found = (each for each in self.shards if each.node in names and each.slot < slots)
        return min(found, default=None)

    def owner_with_room(self, nodes: Iterable[str], slots: int) -> ShardId | None:
        return self.owner_at(nodes, slots)

    def pass_on(self, node: str, slots: int) -> ShardId | None:
        shard = self.owner_at([node], slots)
        self.passed[node] = self.passed.get(node, 0) + (shard is not None)
        return shard

    def passed_on(self, node: str) -> int:
        return self.passed.get(node, 0)

    def node_report(self, node: str) -> NodeReport | None:
        return self.reports.get(node)


class Scene:
    """A placement with nodes of one slot."""

    def __init__(
        self, trunk: CapacityLimits = UNLIMITED, rate: tuple[float, int] = (1000, 1000)
    ) -> None:
        self.clock = ManualClock()
        self.others = OtherEngines()
        self.writer = ManualWriter()
        self.health: dict[str, NodeHealth] = {}
        self.overloaded: set[str] = set()
        self.drained: set[str] = set()
        self.shards = ShardMap(1)
        per_s, max_calls = rate
        settings = AdmissionConfig(
            self.shards, 1, trunk=trunk, max_calls=max_calls, max_calls_per_s=per_s
        )
        self.node_selection = NodeSelection(
            self.clock, settings, self.others, drained=lambda: frozenset(self.drained)
        )

    def node(self, name: str, **terms: float) -> CallShard:
        """Add a connected node."""
        place = ShardContext(name, 0, RecordingPbx(), ENDPOINTS, legs=self.node_selection.legs)
        latency_ms: Callable[[], float] = lambda: 1000.0 if name in self.overloaded else 0.0  # noqa: E731 - one word
        pbx = RecordingPbx()
        node = Node(
            name, pbx, self.clock, lambda _d, _a: None, no_extensions, latency_ms=latency_ms
        )
        shard = CallShard(place, self.clock, self.writer, ManualIoRunner(), node)
        node.add_shard(0, shard)
        shard.resume()
        self.node_selection.nodes[name] = node
        self.health[name] = NodeHealth(self.clock)
        self.node_selection.configure(name, CapacityLimits(**terms), self.health[name])  # type: ignore[arg-type]  # whole numbers are floats here
        return shard

    def call(self, name: str | None = None, by_trunk: bool = True, *preferred: str) -> str:
        """Place a call; returns its node, or the code of the rejection.

        A node of another engine, to which the call is passed on, is in brackets; a node of which
        only another engine has a shard is in square ones.
        """
        try:
            shard = self.node_selection.choose(
                name, by_trunk, frozenset(preferred), may_pass_on=True
            )
            self.node_selection.count_outbound(shard, by_trunk)
        except LighterLoadElsewhere as elsewhere:
            return f"({elsewhere.shard.node if elsewhere.shard else None})"
        except NotOwner as elsewhere:
            return f"[{elsewhere.shard.node if elsewhere.shard else None}]"
        except NoCapacity as error:
            return error.code
        named = f"0-{shard.context.node}-{len(shard.calls):08}"
        shard.start_call(replace(outbound(say()), id=named))
        return shard.context.node
