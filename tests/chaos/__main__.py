"""`python -m tests.chaos [--only FAULT] [--calls N] [--quick]`: each fault on real programs.

Figures go to bench-out/chaos.json. Exits with 1 when anything was lost, duplicated, left behind or
slower than its limit.
"""

import argparse
import asyncio
import shutil
import sys
from pathlib import Path

from rich.console import Console

from tests.bench.figure import keep
from tests.chaos.faults import FAULTS
from tests.chaos.outcome import Limits, Outcome
from tests.chaos.run import run
from tests.chaos.scenario import Setting
from tests.chaos.table import figures, print_table

OUT = Path(__file__).parents[2] / "bench-out"
QUICK = ("engine_killed", "engine_stopped", "engine_frozen", "store_killed", "rolling_restart")
WIDTH = 150
CALLS, QUICK_CALLS = 200, 24


def main() -> int:
    """Run the selected faults one after another."""
    options = _arguments().parse_args()
    console = Console()
    console.width = max(console.width, WIDTH)
    calls = options.calls or (QUICK_CALLS if options.quick else CALLS)
    found: list[tuple[Outcome, Limits]] = []
    failed = False
    for name in options.only or (QUICK if options.quick else FAULTS):
        console.print(f"[bold]{name}[/bold]: {FAULTS[name].inject.__doc__}")
        folder = OUT / "chaos" / name  # logs stay for inspection
        shutil.rmtree(folder, ignore_errors=True)
        try:
            setting = Setting(folder, calls, slots=options.slots, engines=options.engines)
            outcome = asyncio.run(run(name, FAULTS[name], setting))
        except Exception as error:  # noqa: BLE001 - the other faults can still run
            console.print(f"  [red]not measured: {type(error).__name__}: {error}[/red]")
            failed = True
            continue
        keep(figures(outcome), OUT / "chaos.json")
        found.append((outcome, FAULTS[name].limits))
    print_table(found, console)
    return int(failed or any(outcome.misses(limits) for outcome, limits in found))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--only", action="append", choices=FAULTS, help="this fault (repeatable)")
    parser.add_argument("--calls", type=int, help="number of live calls")
    parser.add_argument("--engines", type=int, default=2, help="number of engines")
    parser.add_argument("--slots", type=int, default=4, help="slots of each of the two nodes")
    parser.add_argument("--quick", action="store_true", help="essential faults with few calls")
    return parser


if __name__ == "__main__":
    sys.exit(main())
