"""Histories of a cluster's calls, without those of which the store lost a part."""

from tests.harness.memory_store.store import ShardState
from tests.sim.call_histories import CallHistory, call_histories
from tests.sim.cluster.world import ClusterWorld


def read_histories(world: ClusterWorld) -> tuple[tuple[CallHistory, ...], frozenset[str]]:
    """Return the histories of all complete calls, and the ids of the others."""
    incomplete = frozenset(_incomplete(world))
    return tuple(
        each
        for shard in world.env.shards
        for each in call_histories(world.memory, shard, incomplete)
    ), incomplete


def _incomplete(world: ClusterWorld) -> set[str]:
    """Return the calls of which a log line or everything was lost."""
    incomplete: set[str] = set()
    for shard in world.env.shards:
        kept = world.memory.kept(shard)
        incomplete |= {call for call, log in kept.logs.items() if b"" in log}
        for lost in world.memory.lost:
            if shard in lost:
                incomplete |= _missing(lost[shard], kept)
    return incomplete


def _missing(lost: ShardState, kept: ShardState) -> set[str]:
    return {call for call, log in lost.logs.items() if kept.logs.get(call, [])[: len(log)] != log}
