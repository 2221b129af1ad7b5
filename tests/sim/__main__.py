"""python -m tests.sim: run many simulated calls, or one seed with all that happens in it."""

import argparse
import itertools
import sys

from tests.harness.sim_clock import START_MS
from tests.sim.crowd import CALLS, Outcome, Tally, kept_seeds, run_world, run_worlds
from tests.sim.quiet import quiet


def main() -> int:
    """Run what was asked for; 1 when anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim", description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000, help="how many to run")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="run only this one, and show it")
    parser.add_argument("--all", action="store_true", help="show its sound calls too")
    parser.add_argument("--seeds-file", action="store_true", help="run the seeds kept")
    asked = parser.parse_args()
    if asked.seed is not None:
        return _show(asked.seed, everything=asked.all)
    seeds = kept_seeds() if asked.seeds_file else itertools.count(asked.first)
    tally = run_worlds(seeds, most_calls=asked.calls)
    _report(tally)
    return 1 if tally.failed else 0


def _report(tally: Tally) -> None:
    _say(f"{tally.calls} calls in {tally.worlds} worlds of at most {CALLS}: {tally.steps} steps, "
         f"{tally.calls / tally.seconds:.0f} calls/s")  # fmt: skip
    for kind, count in sorted(tally.faults.items()):
        _say(f"  {count:8} {kind}")
    for seed, wrong in tally.failed.items():
        _say(f"seed {seed}: {len(wrong)} wrong; python -m tests.sim --seed {seed}")
        for who, words in wrong[:3]:
            _say(f"    {who}: {words}")


def _show(seed: int, *, everything: bool) -> int:
    lines: list[str] = []
    with quiet() as never:
        outcome = run_world(
            seed, never, trace=lambda at_ms, words: lines.append(f"{at_ms / 1000:9.3f} {words}")
        )
    kinds = ", ".join(sorted(outcome.world.faults.kinds)) or "none"
    _say(f"seed {seed}, faults: {kinds}; {len(outcome.told)} calls, {len(outcome.wrong)} wrong")
    names = _names(outcome, everything=everything)
    for line in lines:
        if everything or "**" in line or any(name in line for name in names):
            _say(line)
    for story in outcome.told:
        if everything or story.id in names:
            _say(f"\n{story.opened}")
            for moment in story.moments:
                _say(f"{(moment.now - START_MS) / 1000:9.3f} {moment.event}")
                for command in moment.commands:
                    _say(f"              {command}")
                _say(f"            = {moment.call.doing}")
    for who, words in outcome.wrong:
        _say(f"WRONG {who}: {words}")
    return 1 if outcome.wrong else 0


def _names(outcome: Outcome, *, everything: bool) -> set[str]:
    """Name all that belongs to the calls with a fault."""
    who = {name for name, _ in outcome.wrong if name}
    found = set(who)
    for story in outcome.told:
        is_meant = any(name.startswith(story.id) or name == story.opened.main for name in who)
        if everything or is_meant:
            found |= {story.id, story.opened.main}
    return found


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")


if __name__ == "__main__":
    sys.exit(main())
