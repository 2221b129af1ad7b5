"""Runs the tests of one mutant, each stage in a forked process that imports the mutated module."""

import ast
import importlib.util
import os
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any, Literal

import pytest
from msgspec import Struct

from tools.mutants.mutations import Mutant, mutate
from tools.mutants.packages import ROOT

Verdict = Literal["killed", "timeout", "survived", "not covered"]
MIN_TIMEOUT_S = 60.0
TIMEOUT_FACTOR = 5.0  # of what the tests take without a mutant
POLL_INTERVAL_S = 0.05
NO_TESTS = 5  # exit status of pytest
INTERNAL_ERROR = 70
# The parent process has imported plugins already: pytest cannot rewrite their assertions.
IMPORTED_BEFORE = "ignore::pytest.PytestAssertRewriteWarning"


class Trial(Struct, frozen=True):
    """A mutant, the verdict on it, and the stage that killed it."""

    mutant: Mutant
    verdict: Verdict
    stage: int = 0


class Stage(Struct, frozen=True):
    """Tests of a mutant, and the seconds that they take without it."""

    tests: Sequence[str]
    seconds: float


class RunningTrial:
    """The forked process of one mutant's present stage."""

    def __init__(self, mutant: Mutant, stages: Sequence[Stage], log: Path) -> None:
        self.mutant = mutant
        self._stages = stages
        self._log = log
        self._at = -1
        self._pid = 0
        self._deadline_s = 0.0
        self.trial: Trial | None = None if stages else Trial(mutant, "not covered")
        self._start_next()

    def poll(self) -> Trial | None:
        """Return the trial once it is over."""
        if self.trial is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._end_stage(os.waitstatus_to_exitcode(status))
            elif time.monotonic() > self._deadline_s:
                self.stop()
                self.trial = Trial(self.mutant, "timeout", self._at)
        return self.trial

    def stop(self) -> None:
        """Kill the process and those that it has started."""
        os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)

    def _end_stage(self, code: int) -> None:
        if code == INTERNAL_ERROR:
            raise RuntimeError(f"{self._log}: {self._log.read_text()}")
        if code in {0, NO_TESTS}:
            self._start_next()
        else:
            self.trial = Trial(self.mutant, "killed", self._at)

    def _start_next(self) -> None:
        self._at += 1
        if self._at == len(self._stages):
            self.trial = self.trial or Trial(self.mutant, "survived")
            return
        stage = self._stages[self._at]
        self._deadline_s = time.monotonic() + max(MIN_TIMEOUT_S, TIMEOUT_FACTOR * stage.seconds)
        self._pid = os.fork()
        if self._pid == 0:
            _run_tests(self.mutant, stage.tests, self._log)
        os.setpgid(self._pid, self._pid)


class MutantLoader(SourceFileLoader):
    """Loads a module from its mutated syntax tree."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def get_code(self, fullname: str) -> CodeType:
        """Compile the tree instead of the file."""
        assert fullname == self.name
        return compile(self._tree, self.path, "exec", dont_inherit=True)


class MutantFinder:
    """Finds one module, the mutated one; others are found as usual."""

    def __init__(self, mutant: Mutant) -> None:
        path = ROOT / mutant.path
        self._name = mutant.path.removesuffix(".py").replace("/", ".")
        self._loader = MutantLoader(self._name, str(path), mutate(path.read_text(), mutant.index))

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        """Return the mutated module's specification."""
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, self._loader.path, loader=self._loader)


def _pytest_status(tests: Sequence[str]) -> int:
    options = [
        "-W",
        IMPORTED_BEFORE,
        "-x",
        "-q",
        "-p",
        "hypothesispytest",
        "--hypothesis-seed",
        "0",
    ]
    shown = ["--timeout", "60", "--tb", "line", "--show-capture", "no"]
    try:
        return int(pytest.main([*options, *shown, *tests]))
    except ExceptionGroup:  # at its end, pytest raises the errors of what the tests left open
        traceback.print_exc()
        return pytest.ExitCode.TESTS_FAILED


def _run_tests(mutant: Mutant, tests: Sequence[str], log: Path) -> None:
    """Run tests in this process and end it with pytest's status."""
    try:
        os.setpgid(0, 0)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(output, stream)
        sys.meta_path.insert(0, MutantFinder(mutant))
        status = _pytest_status(tests)
    except BaseException:  # noqa: BLE001 - reported by its exit status
        traceback.print_exc()
        status = INTERNAL_ERROR
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
