"""`python -m tools.replay_corpus` records calls of the simulator, with what the core makes of them.

After an intended change of the core: the commit says which decisions are other ones. Calls are
chosen so that each kind of step occurs in one of them.
"""

import logging
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import structlog

from engine.calls.replay_audit import replay
from tests.harness.calls.replay_corpus import CorpusCall, record, write
from tests.harness.sim.store import done
from tests.sim.engine_run import SHARD, PartOverrides
from tests.sim.world import World
from wire.base import tag_of

WORLDS, CALLS = 120, 40
MIN_EACH = 1  # calls with the same kind of step
Kind = tuple[str, ...]


def simulated_logs() -> Iterator[tuple[str, Sequence[bytes]]]:
    """Run worlds, and return the logs of their ended calls."""
    for seed in range(WORLDS):
        world = World(seed, CALLS, PartOverrides())
        world.run()
        yield from done(_logs(world))


async def _logs(world: World) -> list[tuple[str, Sequence[bytes]]]:
    return [
        (call_id, await world.memory.log(SHARD, call_id))
        async for call_id, _state in world.memory.ended(SHARD)
    ]


def kinds_in(log: Sequence[bytes]) -> set[Kind]:
    """Return the kinds of a call's steps: states before and after, event and commands."""
    found, before = set[Kind](), ""
    for step in replay(log):
        after = tag_of(step.call.state)
        commands = sorted({tag_of(each) for each in step.commands})
        found.add((before, tag_of(step.event), after, *commands))
        before = after
    return found


def choose(logs: Iterator[tuple[str, Sequence[bytes]]]) -> list[CorpusCall]:
    """Choose calls until each kind of step occurs often enough, as far as it does."""
    seen, chosen = Counter[Kind](), list[CorpusCall]()
    for call_id, log in logs:
        kinds = kinds_in(log) if all(log) else set[Kind]()
        if any(seen[each] < MIN_EACH for each in kinds):
            seen.update(kinds)
            chosen.append(record(call_id, log))
    return chosen


def main() -> None:
    """Record, and print how much."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    calls = choose(simulated_logs())
    write(calls)
    steps = sum(len(each.checksums) for each in calls)
    sys.stdout.write(f"{len(calls)} calls, {steps} steps\n")


if __name__ == "__main__":
    main()
