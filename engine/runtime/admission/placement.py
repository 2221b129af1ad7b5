"""Where a new call goes: by weight, live calls and health; and whether there is room at all.

What stands against a node stands against its calls in both directions: those that are made go to
another node, those that come in are refused, so that the carrier tries elsewhere.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from engine.calls.model.call import Call
from engine.observe.metrics import Metrics
from engine.runtime.admission.limits import (
    TRUNK,
    UNLIMITED,
    CapacityLimiter,
    CapacityLimits,
    ClusterLoad,
    RateLimiter,
    SingleEngine,
    TrunkLegs,
    Unavailable,
)
from engine.runtime.base.clock import Clock
from engine.runtime.nodes.health import NodeHealth
from engine.runtime.nodes.node import Node
from engine.runtime.shard.shard import CallShard

# The further down, the nearer a call came to its place: that is what a refusal names.
NODE_CODES = (
    "no_node",
    "node_drained",
    "node_leaving",
    "trunk_away",
    "store_down",
    "overloaded",
    "node_full",
    "node_rate",
)
ENGINE_CODES = ("trunk_full", "trunk_rate")  # whatever the node
LONG_RETRY_S = 5  # what stands in the way of these takes a person, or a machine that boots
LONG_RETRY_CODES = NODE_CODES[:4]


class NoCapacity(Exception):
    """No new call can begin now: why, and when to ask again."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.retry_after_s = LONG_RETRY_S if code in LONG_RETRY_CODES else 1


class NodeStatus(Struct, frozen=True):
    """What is known of a node beside its desks."""

    limits: CapacityLimits
    limiter: CapacityLimiter
    health: NodeHealth


class Placement:
    """Chooses a node for a call, and says when there is none."""

    def __init__(
        self,
        gate: RateLimiter,
        clock: Clock,
        trunk: CapacityLimits = UNLIMITED,
        others: ClusterLoad | None = None,
        meter: Metrics | None = None,
    ) -> None:
        self.nodes: dict[str, Node] = {}
        self.rate_limiter = gate
        self.drained: Callable[[], frozenset[str]] = frozenset
        self.retiring: set[str] = set()  # nodes that are to be closed once they are empty
        self._clock = clock
        self._others = others or SingleEngine()
        self._standings: dict[str, NodeStatus] = {}
        self._trunk = CapacityLimiter(clock, trunk, self._others, "trunk", "the trunk")
        self._legs = TrunkLegs(clock, self._live_calls)
        self._refused = (meter or Metrics()).calls.rejected
        for code in (*NODE_CODES, *ENGINE_CODES):
            self._refused.initialize("outbound", code)

    @property
    def live(self) -> int:
        """How many calls live in this engine."""
        return sum(node.live_calls for node in self.nodes.values())

    @property
    def trunk_legs(self) -> int:
        """How many legs this engine has on the trunk."""
        return self._legs.count

    def configure(self, name: str, terms: CapacityLimits, health: NodeHealth) -> None:
        """Learn what a node may be given, and who tells how it is."""
        limit = CapacityLimiter(self._clock, terms, self._others, "node", f"PBX node {name}")
        self._standings[name] = NodeStatus(terms, limit, health)

    def status(self, name: str) -> NodeStatus:
        """Tell what is known of a node."""
        if name not in self._standings:
            self.configure(name, CapacityLimits(), NodeHealth(self._clock))
        return self._standings[name]

    def calls(self, name: str) -> int:
        """Count a node's live calls, of all engines."""
        node = self.nodes.get(name)
        return (node.live_calls if node else 0) + self._others.calls(name)

    def choose(self, name: str | None, slot: int, by_trunk: bool) -> CallShard:
        """Choose where a call begins, and count it; raises NoRoom."""
        asked = [node for node in self.nodes.values() if name in {None, node.name}]
        found = [(node, self._obstacle(node, slot, by_trunk)) for node in asked]
        free = [node for node, obstacle in found if obstacle is None]
        obstacle = (
            self._for_all(by_trunk) if free else _closest([each for _, each in found if each])
        )
        if obstacle is not None:
            self._refused.table("outbound")[obstacle.code] += 1
            raise NoCapacity(obstacle.code, obstacle.detail)
        chosen = min(free, key=self._load)
        self._count(chosen.name, by_trunk)
        return chosen.shards[slot]

    def admit(self, desk: CallShard, by_trunk: bool) -> Unavailable | None:
        """Tell why no call may come in at a desk; None: one may, and is counted."""
        node = self.nodes[desk.context.node]
        obstacle = self._at(desk, node) or self._for_all(by_trunk)
        if obstacle is None:
            self._count(node.name, by_trunk)
        return obstacle

    def has_room(self, name: str | None, slot: int, by_trunk: bool) -> bool:
        """Tell whether a call could begin in a slot, as far as nodes go."""
        asked = (node for node in self.nodes.values() if name in {None, node.name})
        return any(self._obstacle(node, slot, by_trunk) is None for node in asked)

    def unavailable(self, node: Node) -> Unavailable | None:
        """Tell why a node gets no new call."""
        if node.shards and all(desk.is_paused for desk in node.shards.values()):
            return _not_connected(node)
        return self._unfit(node)

    def _obstacle(self, node: Node, slot: int, by_trunk: bool) -> Unavailable | None:
        desk = node.shards.get(slot)
        # Asterisk drops a leg made in an app that nobody listens to: this slot must be heard.
        if desk is None or desk.is_paused:
            return _not_connected(node)
        if by_trunk and self.status(node.name).health.is_trunk_unreachable:
            return Unavailable("trunk_away", f"PBX node {node.name} can't reach the trunk")
        return self._at(desk, node)

    def _at(self, desk: CallShard, node: Node) -> Unavailable | None:
        if not desk.can_store:
            return Unavailable("store_down", "calls can't be stored now")
        return self._unfit(node)

    def _unfit(self, node: Node) -> Unavailable | None:
        standing, whose = self.status(node.name), f"PBX node {node.name}"
        if node.name in self.drained():
            return Unavailable("node_drained", f"{whose} is drained")
        if node.name in self.retiring:
            return Unavailable("node_leaving", f"{whose} is in the DNS no more")
        if standing.health.is_shutting_down:
            return Unavailable("node_leaving", f"{whose} is shutting down")
        if node.is_overloaded:
            return Unavailable("overloaded", f"{whose} is slow to answer")
        return standing.limiter.unavailable(self.calls(node.name))

    def _for_all(self, by_trunk: bool) -> Unavailable | None:
        if self.live >= self.rate_limiter.max_calls:
            return Unavailable(
                "overloaded", f"this engine has its {self.rate_limiter.max_calls} calls"
            )
        if self.rate_limiter.available < 1:
            return Unavailable(
                "overloaded", f"this engine takes {self.rate_limiter.per_s} new calls a second"
            )
        on_trunk = self._legs.count + self._others.calls(TRUNK) if by_trunk else 0
        return self._trunk.unavailable(on_trunk) if by_trunk else None

    def _count(self, name: str, by_trunk: bool) -> None:
        self.rate_limiter.take()
        self.status(name).limiter.take()
        if by_trunk:
            self._trunk.take()
            self._legs.take()

    def _load(self, node: Node) -> float:
        return (self.calls(node.name) + 1) / self.status(node.name).limits.weight

    def _live_calls(self) -> Iterator[Call]:
        for node in self.nodes.values():
            for desk in node.shards.values():
                yield from (actor.call for actor in desk.actors.values())


def _not_connected(node: Node) -> Unavailable:
    return Unavailable("no_node", f"PBX node {node.name} is not connected")


def _closest(obstacles: list[Unavailable]) -> Unavailable:
    """Name what was nearest to being none, and all that was in the way."""
    if not obstacles:
        return Unavailable("no_node", "no PBX node is connected (none configured)")
    nearest = max(obstacles, key=lambda each: NODE_CODES.index(each.code))
    return Unavailable(nearest.code, "; ".join(dict.fromkeys(each.detail for each in obstacles)))
