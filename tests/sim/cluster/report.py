"""The report of a long run: calls, faults by kind, and failed seeds."""

from tests.sim.tally import Tally

MAX_SEEDS = 20  # failed seeds with their violations


def report(tally: Tally) -> list[str]:
    """Return the lines of the report."""
    faults = {kind: count for kind, count in tally.faults.items() if ": " not in kind}
    requests = {kind: count for kind, count in tally.faults.items() if kind not in faults}
    granted = sum(count for kind, count in requests.items() if kind.endswith(": granted"))
    lines = [
        f"{tally.calls:10,} calls in {tally.worlds:,} worlds, {tally.steps:,} steps",
        f"{tally.partial:10,} of them are incomplete: the store lost a part",
        f"{sum(requests.values()):10,} control requests, {granted:,} granted",
        f"{sum(faults.values()):10,} faults, by kind:",
        *(f"{count:10,}   {kind}" for kind, count in sorted(faults.items())),
        f"{len(tally.failed):10,} seeds failed",
        f"{tally.seconds:10.0f} s, {tally.calls / (tally.seconds or 1):.0f} calls/s",
    ]
    for seed, violations in sorted(tally.failed.items())[:MAX_SEEDS]:
        lines.append(
            f"seed {seed}: {len(violations)} violations; python -m tests.sim.cluster --seed {seed}"
        )
        lines += [f"    {subject}: {message}" for subject, message in violations[:3]]
    return lines
