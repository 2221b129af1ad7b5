"""Run many calls over several engines on all cores, or one seed in detail."""

import sys

from tests.sim.cluster.worlds import PROGRAM, run_kept, run_world, run_worlds
from tests.sim.runs.command import Simulator, main

SIMULATOR = Simulator(PROGRAM, 1_000_000, run_world, run_worlds, run_kept)

if __name__ == "__main__":
    sys.exit(main(SIMULATOR, __doc__))
