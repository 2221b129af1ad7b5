"""What this engine does for each node: so it connects only to nodes that concern it."""

import asyncio
from collections.abc import Callable, Collection

from msgspec import Struct

from engine.runtime.cluster.membership import Membership
from engine.runtime.cluster.node_roles import NodeRoles, assign_roles
from engine.runtime.cluster.share_plan import EngineState
from wire.shard import ShardId

LINGER_S = 10.0  # a former deputy hears on, until a takeover that changed the roles is over


class NodeDuty(Struct, frozen=True):
    """What one engine does for one node."""

    owns: bool = False  # it has shards of the node
    supervises: bool = False
    hears: bool = False  # it hears the node's digits: as an owner, supervisor or deputy


NO_DUTY = NodeDuty()


class NodeDuties:
    """The duties of this engine; `changed` is set when they differ from what was read last."""

    def __init__(self, members: Membership, monotonic: Callable[[], float]) -> None:
        self.changed = asyncio.Event()
        self._members = members
        self._monotonic = monotonic
        self._states: dict[str, EngineState] = {}
        self._roles: dict[str, NodeRoles] = {}
        self._duties: dict[str, NodeDuty] = {}
        self._heard_until_s: dict[str, float] = {}

    def of(self, node: str) -> NodeDuty:
        return self._duties.get(node, NO_DUTY)

    def update(self, nodes: Collection[str], held: Collection[ShardId]) -> None:
        """Update the duties for this engine's nodes: `held` are its shards."""
        self._assign_roles()
        owned = {shard.node for shard in held}
        duties = {node: self._duty(node, is_owner=node in owned) for node in nodes}
        if duties != self._duties:
            self._duties = duties
            self.changed.set()

    def _assign_roles(self) -> None:
        engines = self._members.states()
        states = {name: _without_calls(each) for name, each in engines.items()}
        if states != self._states:
            self._states, self._roles = states, assign_roles(states)

    def _duty(self, node: str, *, is_owner: bool) -> NodeDuty:
        roles, me, now_s = self._roles.get(node, NodeRoles()), self._members.me, self._monotonic()
        supervises = roles.supervisor == me
        if is_owner or supervises or roles.deputy == me:
            self._heard_until_s[node] = now_s + LINGER_S
        return NodeDuty(is_owner, supervises, now_s < self._heard_until_s.get(node, 0.0))


def _without_calls(state: EngineState) -> EngineState:
    """Return what roles depend on: numbers of calls change with every heartbeat."""
    return EngineState(0, dict.fromkeys(state.shards, 0), state.nodes, state.missing)
