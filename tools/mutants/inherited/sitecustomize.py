"""Puts the mutant of a trial into each Python process that its tests start.

Python imports this module at its start, because the trial has put this folder in PYTHONPATH.
"""

import sys

from tools.mutants.mutant_finder import MutantFinder, inherited_mutant

if (mutant := inherited_mutant()) is not None:
    sys.meta_path.insert(0, MutantFinder(mutant))
