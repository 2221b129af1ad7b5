"""`python -m tools.chaos.streams [--only FAULT] [--calls N] [--quick]`: streams under faults.

Callers talk to echo bots, with forks and interruptions, or answer prompts by speech, while programs
are killed, replaced and frozen. Figures go to bench-out/chaos.json. Exits with 1 when a caller has
noticed more than a fault allows, or something is left behind.
"""

import argparse
import sys
from pathlib import Path

from tools.chaos.streams.faults import FAULTS
from tools.chaos.streams.outcome import StreamOutcome
from tools.chaos.streams.run import run
from tools.chaos.streams.table import COLUMNS, cells, figures
from tools.chaos.suite import OUT, run_faults, wide_console
from tools.chaos.table import print_rows

CALLS, QUICK_CALLS = 40, 10
BUSY = 2  # times as much of each limit with more than these calls


def main() -> int:
    """Run the selected faults one after another."""
    options = _arguments().parse_args()
    calls = options.calls or (QUICK_CALLS if options.quick else CALLS)

    async def run_one(name: str, folder: Path) -> StreamOutcome:
        return await run(name, FAULTS[name], folder, calls)

    texts = {name: FAULTS[name].inject.__doc__ for name in options.only or FAULTS}
    console = wide_console()
    outcomes, is_complete = run_faults(texts, run_one, figures, OUT / "chaos" / "streams", console)
    times = BUSY if calls > QUICK_CALLS else 1
    limits = {each.fault: FAULTS[each.fault].limits.scaled(times) for each in outcomes}
    rows = [(cells(each), each.misses(limits[each.fault])) for each in outcomes]
    print_rows(COLUMNS, rows, console)
    return int(not is_complete or any(missed for _, missed in rows))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.chaos.streams", description=__doc__)
    parser.add_argument("--only", action="append", choices=FAULTS, help="this fault (repeatable)")
    parser.add_argument("--calls", type=int, help="number of live calls")
    parser.add_argument("--quick", action="store_true", help="few calls")
    return parser


if __name__ == "__main__":
    sys.exit(main())
