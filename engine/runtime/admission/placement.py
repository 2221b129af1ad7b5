"""Where a new call goes: by weight, live calls and health; and whether there is room at all.

What stands against a node stands against its calls in both directions: those that are made go to
another node, those that come in are refused, so that the carrier tries elsewhere.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from engine.calls.model.call import Call
from engine.observe.metrics import Meter
from engine.runtime.admission.limits import (
    ANY,
    TRUNK,
    Alone,
    Gate,
    Limit,
    Obstacle,
    Others,
    Terms,
    TrunkLegs,
)
from engine.runtime.base.clock import Clock
from engine.runtime.nodes.health import NodeHealth
from engine.runtime.nodes.node import Node
from engine.runtime.shard.shard import CallShard

# The further down, the nearer a call came to its place: that is what a refusal names.
CODES = (
    "no_node",
    "node_drained",
    "node_leaving",
    "trunk_away",
    "store_down",
    "overloaded",
    "node_full",
    "node_rate",
)
FOR_ALL = ("trunk_full", "trunk_rate")  # whatever the node
LATER_S = 5  # what stands in the way of these takes a person, or a machine that boots
LATER = CODES[:4]


class NoRoom(Exception):
    """No new call can begin now: why, and when to ask again."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.retry_after_s = LATER_S if code in LATER else 1


class Standing(Struct, frozen=True):
    """What is known of a node beside its desks."""

    terms: Terms
    limit: Limit
    health: NodeHealth


class Placement:
    """Chooses a node for a call, and says when there is none."""

    def __init__(
        self,
        gate: Gate,
        clock: Clock,
        trunk: Terms = ANY,
        others: Others | None = None,
        meter: Meter | None = None,
    ) -> None:
        self.nodes: dict[str, Node] = {}
        self.gate = gate
        self.drained: Callable[[], frozenset[str]] = frozenset
        self.going: set[str] = set()  # nodes that are to be closed once they are empty
        self._clock = clock
        self._others = others or Alone()
        self._standings: dict[str, Standing] = {}
        self._trunk = Limit(clock, trunk, self._others, "trunk", "the trunk")
        self._legs = TrunkLegs(clock, self._live_calls)
        self._refused = (meter or Meter()).calls.refused
        for code in (*CODES, *FOR_ALL):
            self._refused.begin("outbound", code)

    @property
    def live(self) -> int:
        """How many calls live in this engine."""
        return sum(node.live for node in self.nodes.values())

    @property
    def trunk_legs(self) -> int:
        """How many legs this engine has on the trunk."""
        return self._legs.count

    def know(self, name: str, terms: Terms, health: NodeHealth) -> None:
        """Learn what a node may be given, and who tells how it is."""
        limit = Limit(self._clock, terms, self._others, "node", f"PBX node {name}")
        self._standings[name] = Standing(terms, limit, health)

    def standing(self, name: str) -> Standing:
        """Tell what is known of a node."""
        if name not in self._standings:
            self.know(name, Terms(), NodeHealth(self._clock))
        return self._standings[name]

    def calls(self, name: str) -> int:
        """Count a node's live calls, of all engines."""
        node = self.nodes.get(name)
        return (node.live if node else 0) + self._others.calls(name)

    def choose(self, name: str | None, slot: int, by_trunk: bool) -> CallShard:
        """Choose where a call begins, and count it; raises NoRoom."""
        asked = [node for node in self.nodes.values() if name in {None, node.name}]
        found = [(node, self._obstacle(node, slot, by_trunk)) for node in asked]
        free = [node for node, obstacle in found if obstacle is None]
        obstacle = self._for_all(by_trunk) if free else _worst([each for _, each in found if each])
        if obstacle is not None:
            self._refused.of("outbound")[obstacle.code] += 1
            raise NoRoom(obstacle.code, obstacle.detail)
        chosen = min(free, key=self._load)
        self._count(chosen.name, by_trunk)
        return chosen.desks[slot]

    def admits(self, desk: CallShard, by_trunk: bool) -> Obstacle | None:
        """Tell why no call may come in at a desk; None: one may, and is counted."""
        node = self.nodes[desk.place.node]
        obstacle = self._at(desk, node) or self._for_all(by_trunk)
        if obstacle is None:
            self._count(node.name, by_trunk)
        return obstacle

    def has_room(self, name: str | None, slot: int, by_trunk: bool) -> bool:
        """Tell whether a call could begin in a slot, as far as nodes go."""
        asked = (node for node in self.nodes.values() if name in {None, node.name})
        return any(self._obstacle(node, slot, by_trunk) is None for node in asked)

    def against(self, node: Node) -> Obstacle | None:
        """Tell why a node gets no new call."""
        if node.desks and all(desk.is_held for desk in node.desks.values()):
            return _away(node)
        return self._unfit(node)

    def _obstacle(self, node: Node, slot: int, by_trunk: bool) -> Obstacle | None:
        desk = node.desks.get(slot)
        # Asterisk drops a leg made in an app that nobody listens to: this slot must be heard.
        if desk is None or desk.is_held:
            return _away(node)
        if by_trunk and self.standing(node.name).health.is_trunk_away:
            return Obstacle("trunk_away", f"PBX node {node.name} can't reach the trunk")
        return self._at(desk, node)

    def _at(self, desk: CallShard, node: Node) -> Obstacle | None:
        if not desk.can_store:
            return Obstacle("store_down", "calls can't be stored now")
        return self._unfit(node)

    def _unfit(self, node: Node) -> Obstacle | None:
        standing, whose = self.standing(node.name), f"PBX node {node.name}"
        if node.name in self.drained():
            return Obstacle("node_drained", f"{whose} is drained")
        if node.name in self.going:
            return Obstacle("node_leaving", f"{whose} is in the DNS no more")
        if standing.health.is_leaving:
            return Obstacle("node_leaving", f"{whose} is shutting down")
        if node.is_strained:
            return Obstacle("overloaded", f"{whose} is slow to answer")
        return standing.limit.obstacle(self.calls(node.name))

    def _for_all(self, by_trunk: bool) -> Obstacle | None:
        if self.live >= self.gate.most:
            return Obstacle("overloaded", f"this engine has its {self.gate.most} calls")
        if self.gate.room < 1:
            return Obstacle("overloaded", f"this engine takes {self.gate.per_s} new calls a second")
        on_trunk = self._legs.count + self._others.calls(TRUNK) if by_trunk else 0
        return self._trunk.obstacle(on_trunk) if by_trunk else None

    def _count(self, name: str, by_trunk: bool) -> None:
        self.gate.take()
        self.standing(name).limit.take()
        if by_trunk:
            self._trunk.take()
            self._legs.take()

    def _load(self, node: Node) -> float:
        return (self.calls(node.name) + 1) / self.standing(node.name).terms.weight

    def _live_calls(self) -> Iterator[Call]:
        for node in self.nodes.values():
            for desk in node.desks.values():
                yield from (actor.call for actor in desk.actors.values())


def _away(node: Node) -> Obstacle:
    return Obstacle("no_node", f"PBX node {node.name} is not connected")


def _worst(obstacles: list[Obstacle]) -> Obstacle:
    """Name what was nearest to being none, and all that was in the way."""
    if not obstacles:
        return Obstacle("no_node", "no PBX node is connected (none configured)")
    nearest = max(obstacles, key=lambda each: CODES.index(each.code))
    return Obstacle(nearest.code, "; ".join(dict.fromkeys(each.detail for each in obstacles)))
