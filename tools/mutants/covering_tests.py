"""Which tests run a line: measured once for the present sources, and kept."""

import hashlib
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import pytest
from coverage import CoverageData

from tools.mutants import line_coverage
from tools.mutants.line_coverage import FOLDER, LINES, SECONDS
from tools.mutants.mutations import Mutant
from tools.mutants.packages import ROOT, UNIT_TESTS, Package

# Tests that compare texts, or whose product code runs in other processes, run no line here.
UNIT = ("tests/unit", "--ignore", "tests/unit/docs", "--ignore", "tests/unit/cli")
AREAS = ("api", "callbacks", "rpc", "runtime", "store", "streams")
CONTRACT = (*(f"tests/contract/{name}" for name in AREAS), "tests/security", "-k", "not postgres")
RUNS: tuple[tuple[str, tuple[str, ...]], ...] = (("unit", UNIT), ("contract", CONTRACT))
PYTEST = (sys.executable, "-m", "pytest", "-q", "--timeout", "300", "-p", "hypothesispytest")
MEASURED = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
MAX_STAGE_S = 90.0  # of tests, as they take without a mutant


class CoveringTests:
    """The tests that run each line, with the seconds they take."""

    def __init__(self, folder: Path) -> None:
        self.seconds: dict[str, float] = {}
        self._tests = defaultdict[tuple[str, int], set[str]](set)
        self._of_module = defaultdict[str, set[str]](set)
        self._at_import: set[tuple[str, int]] = set()
        for name, _ in RUNS:
            self._read(folder / name)

    def runs_at_import(self, mutant: Mutant) -> bool:
        """Whether the line runs when modules or tests are imported: a loaded module is too late."""
        return (mutant.path, mutant.line) in self._at_import

    def unit_tests(self, mutant: Mutant) -> list[str]:
        """Return all unit tests of a mutant, in the order of their files."""
        return sorted(each for each in self._of(mutant) if each.startswith(UNIT_TESTS))

    def stages(self, package: Package, mutant: Mutant) -> list[list[str]]:
        """Return the unit tests, the contract tests and the last tests to run, quickest first."""
        tests = self._of(mutant)
        unit = [each for each in tests if each.startswith(UNIT_TESTS)]
        nearest = [each for each in unit if each.startswith(package.mirrors)]
        others = [each for each in unit if not each.startswith(package.mirrors)]
        contract = [each for each in tests if not each.startswith(UNIT_TESTS)]
        stages = [[*self.quickest(nearest), *self.quickest(others)], self.quickest(contract)]
        return [stage for stage in (*stages, list(package.last_of(mutant.path))) if stage]

    def _of(self, mutant: Mutant) -> set[str]:
        return (
            self._tests[mutant.path, mutant.line]
            or self._of_module[mutant.path]
            or self._of_importers(mutant.path)
        )

    def _of_importers(self, path: str) -> set[str]:
        """Return the tests of modules that import one without functions, whose lines run once."""
        statement = f"from {path.removesuffix('.py').replace('/', '.')} import"
        importers = [each for each in self._of_module if statement in (ROOT / each).read_text()]
        return set[str]().union(*(self._of_module[each] for each in importers))

    def quickest(self, tests: Iterable[str]) -> list[str]:
        """Return tests, the quickest first, as many as a stage has time for."""
        chosen, total_s = list[str](), 0.0
        for test in sorted(tests, key=lambda each: (self.seconds[each], each)):
            total_s += self.seconds[test]
            if total_s < MAX_STAGE_S:
                chosen.append(test)
        return chosen

    def _read(self, folder: Path) -> None:
        passed = msgspec.json.decode((folder / SECONDS).read_bytes(), type=dict[str, float])
        self.seconds |= passed
        data = CoverageData(str(folder / LINES))
        data.read()
        for file in data.measured_files():
            path = str(Path(file).relative_to(ROOT))
            for line, tests in data.contexts_by_lineno(file).items():
                found = passed.keys() & set(tests)
                if "" in tests:
                    self._at_import.add((path, line))
                self._tests[path, line] |= found
                self._of_module[path] |= found


def measure(folder: Path) -> CoveringTests:
    """Run all tests once, unless that was done for the same sources."""
    folder.mkdir(parents=True, exist_ok=True)
    digest, mark = _digest(), folder / "digest"
    if not mark.exists() or mark.read_text() != digest:
        mark.unlink(missing_ok=True)
        runs = [_start(folder / name, arguments) for name, arguments in RUNS]
        for (name, _), run in zip(RUNS, runs, strict=True):
            if run.wait() not in MEASURED:
                raise RuntimeError(f"the tests have not ended: see {folder / name / 'log'}")
        mark.write_text(digest)
    return CoveringTests(folder)


def _start(folder: Path, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    command = (*PYTEST, "-p", line_coverage.__name__, *arguments)
    environment = {**os.environ, FOLDER: str(folder)}
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)


def _digest() -> str:
    digest = hashlib.sha256()
    for top in ("api", "base", "cli", "dev", "engine", "speech", "streams", "tests", "wire"):
        for path in sorted((ROOT / top).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
