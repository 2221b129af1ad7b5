"""`python -m tests.drills [--seconds S]`: the toll-fraud drill; 1 if a call got through."""

import argparse
import asyncio
import shutil
import sys
from pathlib import Path

from rich.console import Console

from tests.drills.fraud import WAYS, Outcome, open_drill

OUT = Path(__file__).parents[2] / "bench-out" / "fraud-drill"  # logs stay for inspection
SECONDS = 60


def main() -> int:
    """Run the drill, and print what was tried."""
    options = _arguments().parse_args()
    shutil.rmtree(OUT, ignore_errors=True)
    console = Console(highlight=False)
    outcome = asyncio.run(_run(options.seconds))
    for way in WAYS:
        console.print(f"{way}: {outcome.tried[way]} tried, {outcome.refused[way]} refused")
    console.print(f"{len(outcome.calls)} calls reached the carrier", *outcome.calls[:10])
    return int(outcome.has_failed)


async def _run(seconds: float) -> Outcome:
    async with open_drill(OUT) as drill:
        return await drill.run(seconds)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.drills", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long")
    return parser


if __name__ == "__main__":
    sys.exit(main())
