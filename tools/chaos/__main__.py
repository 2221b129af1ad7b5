"""`python -m tools.chaos [--only FAULT] [--calls N] [--quick]`: each fault on real programs.

Figures go to bench-out/chaos.json. Exits with 1 when anything was lost, duplicated, left behind or
slower than its limit.
"""

import argparse
import sys
from pathlib import Path

from tools.chaos.faults import FAULTS
from tools.chaos.outcome import Outcome
from tools.chaos.run import run
from tools.chaos.scenario import Setting
from tools.chaos.suite import OUT, run_faults, wide_console
from tools.chaos.table import figures, print_table

QUICK = ("engine_killed", "engine_stopped", "engine_frozen", "store_killed", "rolling_restart")
CALLS, QUICK_CALLS = 200, 24


def main() -> int:
    """Run the selected faults one after another."""
    options = _arguments().parse_args()
    calls = options.calls or (QUICK_CALLS if options.quick else CALLS)

    async def run_one(name: str, folder: Path) -> Outcome:
        setting = Setting(folder, calls, slots=options.slots, engines=options.engines)
        return await run(name, FAULTS[name], setting)

    names = options.only or (QUICK if options.quick else FAULTS)
    texts = {name: FAULTS[name].inject.__doc__ for name in names}
    console = wide_console()
    outcomes, is_complete = run_faults(texts, run_one, figures, OUT / "chaos", console)
    found = [(each, FAULTS[each.fault].limits) for each in outcomes]
    print_table(found, console)
    return int(not is_complete or any(each.misses(limits) for each, limits in found))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.chaos", description=__doc__)
    parser.add_argument("--only", action="append", choices=FAULTS, help="this fault (repeatable)")
    parser.add_argument("--calls", type=int, help="number of live calls")
    parser.add_argument("--engines", type=int, default=2, help="number of engines")
    parser.add_argument("--slots", type=int, default=4, help="slots of each of the two nodes")
    parser.add_argument("--quick", action="store_true", help="essential faults with few calls")
    return parser


if __name__ == "__main__":
    sys.exit(main())
