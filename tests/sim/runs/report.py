"""The report of a run: calls, faults by kind, and the commands that repeat failed seeds."""

from tests.sim.runs.tally import Tally

MAX_SEEDS = 20  # failed seeds with their violations
MAX_VIOLATIONS = 3  # of a seed


def report(tally: Tally, program: str) -> list[str]:
    """Return the lines of the report of a program that also runs single seeds."""
    faults, requests = tally.injected, tally.requests
    granted = sum(count for kind, count in requests.items() if kind.endswith(": granted"))
    pace = tally.calls / (tally.seconds or 1)
    return [
        f"{tally.calls:10,} calls in {tally.worlds:,} worlds, {tally.steps:,} steps",
        f"{tally.partial:10,} of them are incomplete: the store lost a part",
        f"{requests.total():10,} control requests, {granted:,} granted",
        f"{faults.total():10,} faults, by kind:",
        *(f"{count:10,}   {kind}" for kind, count in sorted(faults.items())),
        f"{len(tally.failed):10,} seeds failed",
        f"{tally.seconds:10.0f} s of all workers, {pace:.0f} calls/s each",
        *failures(tally, program),
    ]


def failures(tally: Tally, program: str) -> list[str]:
    """Return lines about the failed seeds: the command that repeats each, and its violations."""
    lines = []
    for seed, violations in sorted(tally.failed.items())[:MAX_SEEDS]:
        lines.append(
            f"seed {seed}: {len(violations)} violations; python -m {program} --seed {seed}"
        )
        lines += [f"    {subject}: {message}" for subject, message in violations[:MAX_VIOLATIONS]]
    return lines
