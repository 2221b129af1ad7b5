"""Chooses the PBX node of a new call: by weight, live calls and health, if any has capacity.

What blocks a node blocks its calls in both directions: outbound calls go to another node, inbound
ones are rejected, so that the carrier tries elsewhere.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from msgspec import Struct

from engine.calls.model.call import Call
from engine.observe.metrics import Metrics
from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.base.clock import Clock
from engine.runtime.base.node_report import NodeReport
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.pbx_nodes.node_health import NodeHealth
from engine.runtime.policy.capacity_limits import (
    TRUNK,
    CapacityLimiter,
    CapacityLimits,
    ClusterLoad,
    RateLimiter,
    SingleEngine,
    Unavailable,
)
from engine.runtime.policy.leg_counter import LegCounter
from engine.runtime.shard.control_requests import LighterLoadElsewhere, NotOwner
from engine.runtime.shard.shard import CallShard
from wire.shard import ShardId

# In the order in which they are checked: a rejection names the last one, of all nodes.
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
LONG_RETRY_CODES = NODE_CODES[:4]  # they last until an operator acts, or a machine has started
LONG_RETRY_S = 5
SHORT_RETRY_S = 1


class NoCapacity(Exception):
    """No new call can start now: why, and when to retry."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.retry_after_s = LONG_RETRY_S if code in LONG_RETRY_CODES else SHORT_RETRY_S


def closest_to_room(reasons: list[Unavailable]) -> Unavailable:
    """Return the code of the node that came closest to taking the call, with all details."""
    if not reasons:
        return Unavailable("no_node", "no PBX node is connected (none configured)")
    closest = max(reasons, key=lambda each: NODE_CODES.index(each.code))
    return Unavailable(closest.code, "; ".join(dict.fromkeys(each.detail for each in reasons)))


# Other engines' calls are known from heartbeats only: a smaller difference may be none by now.
LIGHTER_LOAD = 0.9
CANNOT_STORE = Unavailable("store_down", "calls can't be stored now")


class NodeStatus(Struct, frozen=True):
    """What is known of a node beside its shards."""

    limits: CapacityLimits
    limiter: CapacityLimiter
    health: NodeHealth
    host: str = ""  # of its ARI; empty: unknown


class NodeSelection:
    """Chooses a node for a call, or says why there is none; `drained` names the drained nodes."""

    def __init__(
        self,
        clock: Clock,
        settings: AdmissionConfig,
        cluster: ClusterLoad | None = None,
        metrics: Metrics | None = None,
        drained: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        self.nodes: dict[str, Node] = {}
        self.rate_limiter = RateLimiter(clock, settings.max_calls_per_s, settings.max_calls)
        self.retiring: set[str] = set()  # nodes to be closed once they have no calls
        self.releasing: set[ShardId] = set()  # shards that are handed over to another engine
        self._clock = clock
        self._shards = settings.shards
        self._cluster = cluster or SingleEngine()
        self._drained = drained
        self._statuses: dict[str, NodeStatus] = {}
        self.legs = LegCounter()
        self.trunk = CapacityLimiter(
            clock, settings.trunk, lambda: 1 / self._cluster.engine_count, "trunk", "the trunk"
        )
        self._rejected = (metrics or Metrics()).calls.rejected
        for code in (*NODE_CODES, *ENGINE_CODES):
            self._rejected.initialize("outbound", code)

    @property
    def live_calls(self) -> int:
        return sum(node.live_calls for node in self.nodes.values())

    @property
    def trunk_legs(self) -> int:
        """The legs on the trunk, of all engines: of the others, as of their last heartbeats."""
        return self.legs.on_trunk + self._cluster.calls(TRUNK)

    def calls(self) -> Iterator[Call]:
        for node in self.nodes.values():
            for shard in node.shards.values():
                yield from (live_call.call for live_call in shard.calls.values())

    def configure(
        self, name: str, limits: CapacityLimits, health: NodeHealth, host: str = ""
    ) -> None:
        """Set a node's limits, the source of its health, and its host."""
        share = partial(self._cluster.rate_share, name)
        limiter = CapacityLimiter(self._clock, limits, share, "node", f"PBX node {name}")
        self._statuses[name] = NodeStatus(limits, limiter, health, host)

    def status(self, name: str) -> NodeStatus:
        if name not in self._statuses:
            self.configure(name, CapacityLimits(), NodeHealth(self._clock))
        return self._statuses[name]

    def health(self, name: str) -> NodeReport:
        """Return a node's health, as this engine or another one reports it."""
        own = self.status(name).health
        reported = None if own.is_watched else self._cluster.node_report(name)
        if reported is None or (own.has_report and not reported.is_watched):
            return own.report()
        return reported

    def own_reports(self) -> dict[str, NodeReport]:
        """Return the health of the nodes that this engine watches."""
        health = {name: status.health for name, status in self._statuses.items()}
        return {name: each.report() for name, each in health.items() if each.has_report}

    def calls_on(self, name: str) -> int:
        """Count a node's live calls, of all engines."""
        node = self.nodes.get(name)
        return (node.live_calls if node else 0) + self._cluster.calls(name)

    def choose(
        self,
        name: str | None,
        by_trunk: bool,
        preferred: frozenset[str] = frozenset(),
        *,
        may_pass_on: bool = False,
    ) -> CallShard:
        """Choose the shard of a new call; `name` is the only node that may get it.

        `preferred` nodes get it if one of them has room. Raises NotOwner when another engine should
        choose: only it has shards of a preferred node, or of any node with room;
        LighterLoadElsewhere, if the call may be passed on; and NoCapacity.
        """
        if may_pass_on and (other := self.other_with_room(name, by_trunk, preferred)):
            raise LighterLoadElsewhere(other)
        candidates = [node for node in self.nodes.values() if name in {None, node.name}]
        found = {node.name: self._shard_at(node) for node in candidates}
        if not any(found.values()):
            raise self._not_owner(candidates)
        checked = [
            (node, self._unavailable_at(node, found[node.name], by_trunk)) for node in candidates
        ]
        free = [node for node, reason in checked if reason is None]
        close = [node for node in free if node.name in preferred]
        if preferred and not any(map(found.get, preferred)):
            self._check_others([node for node in candidates if node.name in preferred], by_trunk)
        if not free:
            self._check_others([node for node in candidates if not found[node.name]], by_trunk)
            raise self._no_capacity(closest_to_room([reason for _, reason in checked if reason]))
        best = min(close or free, key=self._load)
        if may_pass_on and not close:
            self._pass_on([node for node in candidates if not found[node.name]], by_trunk, best)
        if reason := self._engine_unavailable(by_trunk):  # before the request has an id here
            raise self._no_capacity(reason)
        shard = found[best.name]
        if shard is None:
            raise AssertionError("a free node has a shard")
        return shard

    def other_with_room(
        self, name: str | None, by_trunk: bool, preferred: frozenset[str]
    ) -> ShardId | None:
        """Return another engine's shard for a call when this one has all the calls it may have."""
        if self.live_calls < self.rate_limiter.max_calls:
            return None
        return self._other_engine(name, by_trunk, preferred)

    def other_for_inbound(self, shard: CallShard, by_trunk: bool) -> ShardId | None:
        """Return another engine's shard for a call that this one has no room for, at its node."""
        if self._limit_reached() is None:
            return None
        return self._other_engine(shard.context.node, by_trunk, frozenset())

    def _other_engine(
        self, name: str | None, by_trunk: bool, preferred: frozenset[str]
    ) -> ShardId | None:
        candidates = [node for node in self.nodes.values() if name in {None, node.name}]
        names = {node.name for node in self._open_nodes(candidates, by_trunk)}
        find, slots = self._cluster.owner_with_room, self._shards.slots
        return find(preferred & names, slots) or find(names, slots)

    def has_room(self, shard: CallShard, by_trunk: bool) -> bool:
        """Return whether an outbound call may start in a shard."""
        return self._unavailable_at(self.nodes[shard.context.node], shard, by_trunk) is None

    def count_outbound(self, shard: CallShard, by_trunk: bool) -> None:
        """Count a call that starts in a shard; raises NoCapacity."""
        node = self.nodes[shard.context.node]
        reason = self._unavailable_at(node, shard, by_trunk) or self._engine_unavailable(by_trunk)
        if reason is not None:
            raise self._no_capacity(reason)
        self._count(node.name, by_trunk)

    def admit(self, shard: CallShard, by_trunk: bool) -> Unavailable | None:
        """Return why no call may come in at a shard; None: one may, and is counted."""
        node = self.nodes[shard.context.node]
        reason = self._shard_unavailable(shard, node) or self._engine_unavailable(by_trunk)
        if reason is None:
            self._count(node.name, by_trunk)
        return reason

    def give_back(self, shard: CallShard, by_trunk: bool) -> None:
        """Take back that a call was admitted: a flood of calls to no number leaves room."""
        self.rate_limiter.give_back()
        self.status(shard.context.node).limiter.give_back()
        if by_trunk:
            self.trunk.give_back()

    def unavailable(self, node: Node) -> Unavailable | None:
        """Return why a node gets no new call; None: it does."""
        if node.shards and all(shard.is_paused for shard in node.shards.values()):
            return _why_paused(node, next(iter(node.shards.values())))
        return self._node_unavailable(node)

    def _shard_at(self, node: Node) -> CallShard | None:
        """Return the shard of a node that a new call gets, if this engine has one."""
        own = [
            shard
            for slot, shard in node.shards.items()
            if slot < self._shards.slots and shard.context.id not in self.releasing
        ]
        # Asterisk drops a leg whose Stasis app has no listener: the very slot must be connected.
        return min(own, key=lambda each: (each.is_paused, len(each.calls)), default=None)

    def _unavailable_at(
        self, node: Node, shard: CallShard | None, by_trunk: bool
    ) -> Unavailable | None:
        if shard is None or shard.is_paused:
            return _why_paused(node, shard)
        return self._trunk_unavailable(node, by_trunk) or self._shard_unavailable(shard, node)

    def _trunk_unavailable(self, node: Node, by_trunk: bool) -> Unavailable | None:
        if by_trunk and self.health(node.name).is_trunk_unreachable:
            return Unavailable("trunk_away", f"PBX node {node.name} can't reach the trunk")
        return None

    def _check_others(self, nodes: Iterable[Node], by_trunk: bool) -> None:
        """Raise NotOwner if another engine has a shard of a node that seems to have room."""
        open_nodes = [node.name for node in self._open_nodes(nodes, by_trunk)]
        other = self._cluster.owner_at(open_nodes, self._shards.slots)
        if other is not None:
            raise NotOwner(other)

    def _pass_on(self, nodes: Iterable[Node], by_trunk: bool, best: Node) -> None:
        """Raise LighterLoadElsewhere if a node has a lower load than the best with own shards."""
        lightest = min(self._open_nodes(nodes, by_trunk), key=self._load, default=best)
        if self._load(lightest) < LIGHTER_LOAD * self._load(best):
            other = self._cluster.pass_on(lightest.name, self._shards.slots)
            if other is not None:
                raise LighterLoadElsewhere(other)

    def _open_nodes(self, nodes: Iterable[Node], by_trunk: bool) -> list[Node]:
        """Return the nodes that seem to have room, if some engine has a shard there."""
        return [
            node
            for node in nodes
            if not (self._trunk_unavailable(node, by_trunk) or self._node_unavailable(node))
        ]

    def _not_owner(self, nodes: Iterable[Node]) -> Exception:
        """Return why no shard of these nodes is this engine's."""
        names = [node.name for node in nodes]
        if not names:
            return self._no_capacity(closest_to_room([]))
        return NotOwner(self._cluster.owner_at(names, self._shards.slots))

    def _no_capacity(self, reason: Unavailable) -> NoCapacity:
        self._rejected.table("outbound")[reason.code] += 1
        return NoCapacity(reason.code, reason.detail)

    def _shard_unavailable(self, shard: CallShard, node: Node) -> Unavailable | None:
        if not shard.can_store:
            return CANNOT_STORE
        return self._node_unavailable(node)

    def _node_unavailable(self, node: Node) -> Unavailable | None:
        status, subject = self.status(node.name), f"PBX node {node.name}"
        if node.name in self._drained():
            return Unavailable("node_drained", f"{subject} is drained")
        if node.name in self.retiring:
            return Unavailable("node_leaving", f"{subject} is not in the DNS any more")
        if self.health(node.name).is_shutting_down:
            return Unavailable("node_leaving", f"{subject} is shutting down")
        if node.is_overloaded:
            return Unavailable("overloaded", f"{subject} is slow to answer")
        return status.limiter.unavailable(lambda: self.calls_on(node.name))

    def _engine_unavailable(self, by_trunk: bool) -> Unavailable | None:
        if reason := self._limit_reached():
            return reason
        return self.trunk.unavailable(lambda: self.trunk_legs) if by_trunk else None

    def _limit_reached(self) -> Unavailable | None:
        """Return which limit of this engine leaves no room, whatever the node and the trunk."""
        limiter = self.rate_limiter
        if self.live_calls >= limiter.max_calls:
            return Unavailable("overloaded", f"this engine has its {limiter.max_calls} calls")
        if limiter.available < 1:
            detail = f"this engine takes {limiter.per_s} new calls a second"
            return Unavailable("overloaded", detail)
        return None

    def _count(self, name: str, by_trunk: bool) -> None:
        self.rate_limiter.take()
        self.status(name).limiter.take()
        if by_trunk:
            self.trunk.take()

    def _load(self, node: Node) -> float:
        # The others pass calls on as well: each engine fills only its part of a difference.
        passed_on = self._cluster.passed_on(node.name) * self._cluster.engine_count
        calls = self.calls_on(node.name) + passed_on
        return (calls + 1) / self.status(node.name).limits.weight


def _why_paused(node: Node, shard: CallShard | None) -> Unavailable:
    """Return why a shard is paused: without its store an engine has no lease, with any node."""
    if shard is not None and not shard.context.lease.holds:
        return CANNOT_STORE
    return Unavailable("no_node", f"PBX node {node.name} is not connected")
