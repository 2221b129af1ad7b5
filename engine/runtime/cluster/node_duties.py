"""What this engine does for each node: so it connects only to nodes that concern it."""

import asyncio
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from functools import lru_cache
from math import ceil
from typing import Any

from msgspec import Struct

from engine.runtime.base.tasks import Tasks
from engine.runtime.cluster.membership import Membership
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


SLACK = 1.2  # an engine may have this times the average number of roles; less moves more of them


class NodeRoles(Struct, frozen=True):
    """Engines by name; empty: no engine has the role.

    The supervisor does what one engine must do for a node. The deputy hears the node's digits, so
    that they are known after the death of any one engine.
    """

    supervisor: str = ""
    deputy: str = ""


def assign_roles(engines: Mapping[str, EngineState]) -> dict[str, NodeRoles]:
    """Assign the roles of all nodes.

    An engine that has shards of a node is preferred for both roles, as it is connected anyway. Each
    choice follows a hash of engine and node, up to a limit of roles, so that a change of the
    members moves few roles.
    """
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for name, state in engines.items():
        for shard in state.shards:
            owners[shard.node].add(name)
    nodes = sorted({node for state in engines.values() for node in state.nodes} | owners.keys())
    limit = ceil(SLACK * len(nodes) / max(1, len(engines)))
    supervisors, deputies = _Roles(limit), _Roles(2 * limit)
    assigned: dict[str, NodeRoles] = {}
    for node in nodes:
        reaching = _reaching(engines, node)
        supervisor = supervisors.choose(node, owners[node] & reaching or reaching)
        deputies.taken[supervisor] += 1
        others = reaching - {supervisor}
        assigned[node] = NodeRoles(
            supervisor, deputies.choose(f"{node} deputy", owners[node] & others or others)
        )
    return assigned


class _Roles:
    """How many roles each engine has so far."""

    def __init__(self, limit: int) -> None:
        self.taken: Counter[str] = Counter()
        self._limit = limit

    def choose(self, role: str, names: Collection[str]) -> str:
        """Give a role to one of some engines."""
        if not names:
            return ""
        ranked = sorted(names, key=lambda name: (_rank(role, name), name))
        free = (name for name in ranked if self.taken[name] < self._limit)
        chosen = next(free, None) or min(ranked, key=self.taken.__getitem__)
        self.taken[chosen] += 1
        return chosen


def _reaching(engines: Mapping[str, EngineState], node: str) -> set[str]:
    known = {name for name, state in engines.items() if node in state.nodes}
    return {name for name in known if node not in engines[name].missing} or known


@lru_cache(maxsize=65_536)
def _rank(role: str, engine: str) -> bytes:
    return hashlib.blake2b(f"{role} {engine}".encode(), digest_size=8).digest()


Work = Callable[[], Coroutine[Any, Any, None]]
PARTS: Mapping[str, Callable[[NodeDuty], bool]] = {
    "owner": lambda duty: duty.owns,
    "stranger": lambda duty: not duty.owns,
    "supervisor": lambda duty: duty.supervises,
    "listener": lambda duty: duty.hears,
}


class NodeUpkeep:
    """Starts and ends the work of each part of a node as the duty changes."""

    def __init__(self, node: str, tasks: Tasks, work: Mapping[str, Sequence[Work]]) -> None:
        self._node = node
        self._tasks = tasks
        self._work = work
        self._running: set[str] = set()
        self.apply(NO_DUTY)

    def apply(self, duty: NodeDuty) -> None:
        for part, is_wanted in PARTS.items():
            if is_wanted(duty) and part not in self._running:
                self._running.add(part)
                for work in self._work.get(part, ()):
                    self._tasks.start(self._task(part), work())
            elif not is_wanted(duty) and part in self._running:
                self._running.discard(part)
                self._tasks.cancel(self._task(part))

    async def close(self) -> None:
        """End all work, and wait until it has ended."""
        for part in PARTS:
            await self._tasks.end(self._task(part))
        self._running.clear()

    def _task(self, part: str) -> str:
        return f"{part} of node {self._node}"
