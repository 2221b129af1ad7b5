"""Which engine supervises each node, and which one is its deputy: a pure function.

All engines assign the same roles from the same heartbeats, so there is no vote and no leader. See
decision 0059.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from functools import lru_cache
from math import ceil

from msgspec import Struct

from engine.runtime.cluster.share_plan import EngineState

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
