"""`python -m tools.drills fraud|load [--seconds S]`: attacks on real programs; 1 if one succeeded.

The seconds are those of the whole fraud drill, and of each way of the load drill.
"""

import argparse
import asyncio
import shutil
import sys
from collections import Counter
from pathlib import Path

from rich.console import Console

from tools.drills import fraud, load

OUT = Path(__file__).parents[2] / "bench-out"  # logs stay for inspection
SECONDS = {"fraud": 60, "load": 25}


def main() -> int:
    """Run a drill, and print what was tried."""
    options = _arguments().parse_args()
    folder = OUT / f"{options.drill}-drill"
    shutil.rmtree(folder, ignore_errors=True)
    console = Console(highlight=False)
    run = {"fraud": _fraud, "load": _load}[options.drill]
    return int(asyncio.run(run(folder, options.seconds or SECONDS[options.drill], console)))


async def _fraud(folder: Path, seconds: float, console: Console) -> bool:
    async with fraud.open_drill(folder) as drill:
        outcome = await drill.run(seconds)
    for way in fraud.WAYS:
        end = "passed" if outcome.is_way_safe(way) else "failed"
        refused = f"{outcome.refused(way)} refused ({_counts(outcome.reasons[way])})"
        console.print(f"{way}: {outcome.tried[way]} numbers dialled, {refused}: {end}")
    console.print(f"{len(outcome.calls)} calls reached the carrier", *outcome.calls[:10])
    console.print("failed" if outcome.has_failed else "passed")
    return outcome.has_failed


async def _load(folder: Path, seconds: float, console: Console) -> bool:
    has_failed, quiet_ms = False, 0.0
    async with load.open_load_drill(folder) as drill:
        for way in load.WAYS:
            outcome = await drill.run(way, seconds)
            quiet_ms = quiet_ms or outcome.p99_ms  # of the first, which is no attack
            limit_ms = load.max_p99_ms(way, quiet_ms)
            has_failed |= outcome.has_failed(limit_ms)
            requests = f"{len(outcome.latencies_ms)} requests, p99 {outcome.p99_ms:.0f} ms"
            limit = f"at most {limit_ms:.0f}"
            console.print(
                f"{way}: {_counts(outcome.attempts)}; the other customer: {requests}, {limit},"
            )
            calls = f"{outcome.records} records of {outcome.calls} calls"
            upload = f"uploads within {outcome.slowest_upload_s:.1f} s"
            console.print(f"  {calls}, {upload}; failed: {_counts(outcome.failures)}")
    return has_failed


def _counts(found: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in found.most_common()) or "none"


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.drills", description=__doc__)
    parser.add_argument("drill", choices=SECONDS)
    parser.add_argument("--seconds", type=float, help="how long")
    return parser


if __name__ == "__main__":
    sys.exit(main())
