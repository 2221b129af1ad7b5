"""Mutants in the processes that tests start."""

import os
import subprocess
import sys

import pytest

from tools.mutants.mutant_finder import MUTANT, pass_on
from tools.mutants.mutations import mutants_of
from tools.mutants.packages import ROOT

MODULE = "wire/decoding/texts.py"
PROGRAM = "from wire.decoding.texts import printable as f; print(f(' 12 '))"


def printed() -> str:
    """Run the program in a process of its own, and return what it prints."""
    argv = (sys.executable, "-c", PROGRAM)
    return subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_a_process_has_the_mutant_of_the_one_that_starts_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a program under test has it, in which no test can change a function."""
    for name in (MUTANT, "PYTHONPATH"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # restored at the end
    mutants = mutants_of(MODULE, (ROOT / MODULE).read_text())
    assert printed() == "12\n"
    pass_on(next(each for each in mutants if each.operator == "return None"))
    assert printed() == "None\n"
