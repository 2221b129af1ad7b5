"""Plans which engine should own each shard: a pure function of what all engines know.

All engines compute the same plan from the same heartbeats, so there is no vote and no leader.

1. A shard stays with its owner. If its owner can't reach the node that another engine reaches, or
   can't read calls of a later version, the other engine gets it.
2. A shard without an owner goes to the engine that its last owner released it for, else to the one
   with the lowest load.
3. If a move makes the loads noticeably more equal, it is made: one for each engine at a time. An
   engine that misses a node gets none, so a dead path moves only the shards of that path.

No engine gets a shard with which it would have more calls than it may have: the shard waits, with
its owner if it has one. Of equal choices, the one is made with which engines have shards of fewer
nodes: each node costs an engine its connections.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from wire.shard import ShardId

SHARD_WEIGHT = 10  # of a shard beside its calls, so that idle shards are shared, too
NOTICEABLE = 0.2  # of the average load


class EngineState(Struct, frozen=True):
    """What an engine has, with the live calls of each shard, and what it may get.

    `nodes` are configured, `missing` are those of them that it can't reach and another engine can.
    """

    capacity: int  # of live calls
    shards: Mapping[ShardId, int] = {}
    nodes: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    format: int = 0  # of stored calls: the latest that it can read


class SharePlan(Struct, frozen=True):
    """Shards and the engines that should get them."""

    free: Mapping[ShardId, str] = {}  # they have no owner
    urgent: Mapping[ShardId, str] = {}  # their owner can't serve them
    moves: Mapping[ShardId, str] = {}  # it makes loads more equal
    waiting: frozenset[ShardId] = frozenset()  # they have no owner, and no engine has room

    def claims_of(self, engine: str) -> list[ShardId]:
        """Return what an engine should claim."""
        moves = [shard for shard, to in self.moves.items() if to == engine]
        return [*self.takeovers_of(engine), *moves]

    def takeovers_of(self, engine: str) -> list[ShardId]:
        """Return what an engine should claim because no other engine serves it."""
        parts = (self.free, self.urgent)
        return [shard for part in parts for shard, to in part.items() if to == engine]


def plan_shares(
    engines: Mapping[str, EngineState],
    free: Mapping[ShardId, int],
    unreadable: Mapping[ShardId, int],
    offers: Mapping[ShardId, str] = {},
) -> SharePlan:
    """Plan for all engines; `free` are the live calls of shards without an owner.

    `unreadable` is the latest format of stored calls that does not suffice for a shard. `offers`
    name the engines that shards were released for: heartbeats differ for a moment, and of two
    engines with different plans each could leave the shard to the other.
    """
    planner = _Planner(engines, unreadable, offers)
    urgent = planner.give_away(planner.misplaced())
    assigned = planner.give_away(free)
    waiting = frozenset(free.keys() - assigned.keys())
    return SharePlan(assigned, urgent, planner.balance(), waiting)


class _Planner:
    """The loads of all engines, as they become with the plan."""

    def __init__(
        self,
        engines: Mapping[str, EngineState],
        unreadable: Mapping[ShardId, int],
        offers: Mapping[ShardId, str],
    ) -> None:
        self._engines = engines
        self._offers = offers
        self._names = sorted(engines)
        self._unreadable = unreadable
        # Two engines may claim a shard, until the one that has lost it notices: it counts once.
        self._owners = {shard: name for name in self._names for shard in engines[name].shards}
        self._kept = {name: self._owned_by(name) for name in self._names}  # not moved so far
        self._calls = {name: sum(kept.values()) for name, kept in self._kept.items()}
        self._loads = {
            name: self._calls[name] + SHARD_WEIGHT * len(kept) for name, kept in self._kept.items()
        }
        self._nodes = {name: {shard.node for shard in kept} for name, kept in self._kept.items()}
        self._of_node: dict[str, frozenset[str]] = {}

    def _owned_by(self, name: str) -> dict[ShardId, int]:
        shards = self._engines[name].shards.items()
        return {shard: calls for shard, calls in shards if self._owners[shard] == name}

    def misplaced(self) -> dict[ShardId, int]:
        """Return the shards whose owners can't serve them."""
        return {
            shard: calls
            for name in self._names
            for shard, calls in self._kept[name].items()
            if name not in self._allowed(shard)
        }

    def give_away(self, shards: Mapping[ShardId, int]) -> dict[ShardId, str]:
        """Give shards to the engines with the lowest loads that have room, the largest first."""
        given: dict[ShardId, str] = {}
        added = sum(shards.values()) + SHARD_WEIGHT * len(shards)
        fair = (sum(self._loads.values()) + added) / max(1, len(self._loads))
        for shard, calls in sorted(shards.items(), key=lambda each: (-each[1], each[0])):
            room = [name for name in self._allowed(shard) if self._has_room(name, calls)]
            connected = [
                name
                for name in room
                if shard.node in self._nodes[name]
                and self._loads[name] + SHARD_WEIGHT + calls <= fair
            ]
            if room:
                offered = self._offers.get(shard)
                to = offered if offered in room else min(connected or room, key=self._order)
                given[shard] = to
                self._move(shard, calls, to)
        return given

    def balance(self) -> dict[ShardId, str]:
        """Move a shard of each engine whose load is noticeably too high."""
        average = sum(self._loads.values()) / max(1, len(self._loads))
        gain = max(SHARD_WEIGHT, NOTICEABLE * average)
        moves: dict[ShardId, str] = {}
        for name in sorted(self._names, key=lambda each: (-self._loads[each], each)):
            if (move := self._best_move(name, gain)) is not None:
                shard, to = move
                moves[shard] = to
                self._move(shard, self._kept[name][shard], to)
        return moves

    def _best_move(self, name: str, gain: float) -> tuple[ShardId, str] | None:
        """Return the shard of an engine whose move makes its load and another one most equal."""
        for to in sorted(self._names, key=self._order):
            surplus = self._loads[name] - self._loads[to]
            if surplus < gain + SHARD_WEIGHT:
                return None
            other = self._engines[to]
            if other.missing or other.format < self._engines[name].format:
                continue  # its other paths may fail, too; or it could not read the calls
            shards = (
                (self._inequality(surplus, calls), shard.node not in self._nodes[to], shard)
                for shard, calls in self._kept[name].items()
                if surplus >= gain + SHARD_WEIGHT + calls
                and self._has_room(to, calls)
                and to in self._allowed(shard)
            )
            if (best := min(shards, default=None)) is not None:
                return best[-1], to
        return None

    def _inequality(self, surplus: int, calls: int) -> int:
        """Return how unequal two loads stay if a shard moves, as a number of idle shards."""
        return round(abs(surplus / 2 - SHARD_WEIGHT - calls) / SHARD_WEIGHT)

    def _move(self, shard: ShardId, calls: int, to: str) -> None:
        if (owner := self._owners.get(shard)) is not None:
            del self._kept[owner][shard]
            self._calls[owner] -= calls
            self._loads[owner] -= calls + SHARD_WEIGHT
        self._calls[to] += calls
        self._loads[to] += calls + SHARD_WEIGHT
        self._nodes[to].add(shard.node)

    def _has_room(self, name: str, calls: int) -> bool:
        """Return whether an engine may get a shard.

        An engine without calls may, however many the shard has: it would wait for ever.
        """
        after = self._calls[name] + calls
        return not calls or after == calls or after <= self._engines[name].capacity

    def _order(self, name: str) -> tuple[int, str]:
        return self._loads[name], name

    def _allowed(self, shard: ShardId) -> frozenset[str]:
        """Return the engines that can serve a shard."""
        if shard.node not in self._of_node:
            self._of_node[shard.node] = frozenset(self._reaching(shard.node))
        allowed = self._of_node[shard.node]
        if shard not in self._unreadable:
            return allowed
        insufficient = self._unreadable[shard]
        readers = [name for name in allowed if self._engines[name].format > insufficient]
        return frozenset(readers) or allowed

    def _reaching(self, node: str) -> Iterable[str]:
        known = [name for name in self._names if node in self._engines[name].nodes]
        able = [name for name in known if node not in self._engines[name].missing]
        return able or known or self._names
