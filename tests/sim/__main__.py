"""Run many simulated calls on all cores, or one seed in detail."""

import sys

from tests.sim.runs.command import Simulator, main
from tests.sim.worlds import PROGRAM, run_kept, run_seed, run_worlds

SIMULATOR = Simulator(PROGRAM, 100_000, run_seed, run_worlds, run_kept)

if __name__ == "__main__":
    sys.exit(main(SIMULATOR, __doc__))
