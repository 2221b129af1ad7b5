"""`python -m tools.mutants.redundant`: unit tests that can go, by what was recorded.

A function of tests can go if it runs no line alone, and is the only killer of no mutant, among the
unit tests that stay. Longest functions first, so that the most lines go. `--verify` tries further
mutants of the lines that they run, and lets a function stay if only those that go detect one.
"""

import argparse
import ast
import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from coverage import CoverageData
from msgspec import Struct
from rich.console import Console

from tools.mutants.covering_tests import UNIT, CoveringTests, measure
from tools.mutants.fork_client import ForkClient, start_servers
from tools.mutants.killers import Record, read_killers
from tools.mutants.line_coverage import LINES
from tools.mutants.mutations import Mutant, mutants_of
from tools.mutants.packages import OUT, PACKAGES, ROOT, UNIT_TESTS
from tools.mutants.trial import HYPOTHESIS, TEST_TIMEOUT, Stage

LOGS = OUT / "logs"
MAX_FUNCTIONS = 30  # that run a line: what more of them run, most of them detect
# Changes that no crash betrays: a test detects them only if it checks what they change.
SUBTLE = {"comparison", "and/or", "drop operand", "constant", "flip bool", "arithmetic", "drop not"}
Line = tuple[str, int]


def function_of(test: str) -> str:
    """Return the function of a test, which parameters may call many times."""
    return test.partition("[")[0]


class Evidence(Struct, frozen=True):
    """The lines that each function of tests runs, and the functions that kill each mutant."""

    lines: Mapping[str, frozenset[Line]]
    killers: Mapping[Mutant, frozenset[str]]

    def removable(self, candidates: Iterable[str]) -> list[str]:
        """Choose functions, in this order, that leave each line run and each mutant killed."""
        runs = defaultdict[Line, int](int)
        for lines in self.lines.values():
            for line in lines:
                runs[line] += 1
        left = {mutant: len(functions) for mutant, functions in self.killers.items()}
        killed = defaultdict[str, list[Mutant]](list)
        for mutant, functions in self.killers.items():
            for each in functions:
                killed[each].append(mutant)
        chosen = list[str]()
        for each in candidates:
            if any(runs[line] == 1 for line in self.lines[each]):
                continue
            if any(left[mutant] == 1 for mutant in killed[each]):
                continue
            for line in self.lines[each]:
                runs[line] -= 1
            for mutant in killed[each]:
                left[mutant] -= 1
            chosen.append(each)
        return chosen


def read_evidence(coverage: Path, killers: Path) -> Evidence:
    """Read what was recorded of unit tests."""
    data = CoverageData(str(coverage / LINES))
    data.read()
    lines = defaultdict[str, set[Line]](set)
    for file in data.measured_files():
        path = str(Path(file).relative_to(ROOT))
        for line, tests in data.contexts_by_lineno(file).items():
            for test in tests:
                if test:
                    lines[function_of(test)].add((path, line))
    return Evidence(
        {each: frozenset(found) for each, found in lines.items()},
        {
            mutant: frozenset(map(function_of, tests))
            for mutant, tests in read_killers(killers).items()
        },
    )


def lengths() -> dict[str, int]:
    """Return the lines of each function of unit tests of the measured packages."""
    folders = [each for one in PACKAGES.values() for each in one.mirrors]
    found = dict[str, int]()
    for folder in folders:
        if not folder.startswith(UNIT_TESTS):
            continue
        for path in sorted((ROOT / folder).rglob("test_*.py")):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                    name = f"{path.relative_to(ROOT)}::{node.name}"
                    found[name] = (node.end_lineno or first) - first + 3
    return found


class Verification:
    """Tries mutants of the lines that removable functions run, one for each server at a time."""

    def __init__(
        self, covering: CoveringTests, servers: Sequence[ForkClient], going: Iterable[str]
    ) -> None:
        self._covering = covering
        self._servers = SimpleQueue[ForkClient]()
        for each in servers:
            self._servers.put(each)
        self._going = frozenset(going)

    def killers(self, mutant: Mutant) -> list[str]:
        """Return which tests that go detect a mutant, and then the first that stays."""
        tests = self._covering.unit_tests(mutant)
        going = [each for each in tests if function_of(each) in self._going]
        server = self._servers.get()
        try:
            found = self._failed(server, mutant, going, stops_at_failure=False)
            if found:
                staying = self._covering.quickest(set(tests) - set(going))
                found += self._failed(server, mutant, staying, stops_at_failure=True)
            return found
        finally:
            self._servers.put(server)

    def _failed(
        self, server: ForkClient, mutant: Mutant, tests: Sequence[str], *, stops_at_failure: bool
    ) -> list[str]:
        seconds = sum(self._covering.seconds[each] for each in tests)
        stage = Stage(tests, seconds, True, stops_at_failure)
        log = LOGS / f"{mutant.path.replace('/', '.')}.{mutant.index}.log"
        return list(server.start(stage.request(mutant, log)).wait().failed)


def mutants_to_try(
    evidence: Evidence, covering: CoveringTests, going: Sequence[str], each_count: int, seed: int
) -> list[Mutant]:
    """Choose subtle mutants of lines that each function runs and few others."""
    dice = random.Random(seed)
    runs = Counter(line for lines in evidence.lines.values() for line in lines)
    by_line = defaultdict[Line, list[Mutant]](list)
    for path in (path for package in PACKAGES.values() for path in package.modules()):
        for each in mutants_of(path, (ROOT / path).read_text()):
            is_fit = each.operator in SUBTLE and 0 < runs[path, each.line] <= MAX_FUNCTIONS
            if is_fit and not covering.runs_at_import(each) and each not in evidence.killers:
                by_line[path, each.line].append(each)
    chosen = dict[Mutant, None]()
    for function in going:
        lines = sorted(evidence.lines[function])
        mutants = [each for line in lines for each in by_line[line] if each not in chosen]
        chosen |= dict.fromkeys(dice.sample(mutants, min(each_count, len(mutants))))
    return list(chosen)


def main() -> int:
    """Print what can go; with `--verify`, try further mutants first."""
    options = _arguments().parse_args()
    console = Console()
    length = lengths()
    order = sorted(length, key=lambda each: (-length[each], each))
    evidence = read_evidence(OUT / "coverage" / "unit", OUT / "killers")
    candidates = [each for each in order if evidence.lines.get(each)]
    if options.verify:
        _verify(evidence, candidates, options, console)
        evidence = read_evidence(OUT / "coverage" / "unit", OUT / "killers")
    going = evidence.removable(candidates)
    by_file = defaultdict[str, list[str]](list)
    for each in going:
        by_file[each.partition("::")[0]].append(each)
    total = {file: sum(map(length.__getitem__, tests)) for file, tests in by_file.items()}
    for file in sorted(by_file, key=lambda each: (-total[each], each)):
        console.print(f"{total[file]} lines: {file}", highlight=False)
        for test in by_file[file]:
            console.print(f"  {length[test]} {test.partition('::')[2]}", highlight=False)
    console.print(f"{len(going)} of {len(candidates)} functions, {sum(total.values())} lines")
    return 0


def _verify(
    evidence: Evidence, candidates: Sequence[str], options: argparse.Namespace, console: Console
) -> None:
    covering = measure(OUT / "coverage")
    going = evidence.removable(candidates)
    mutants = mutants_to_try(evidence, covering, going, options.verify, options.seed)
    LOGS.mkdir(parents=True, exist_ok=True)
    arguments = (*UNIT, *HYPOTHESIS, *TEST_TIMEOUT)
    servers = start_servers(options.jobs, arguments, OUT / "servers.log")
    verification = Verification(covering, servers, going)
    record = Record(OUT / "killers" / f"verified-{options.seed}.jsonl")
    deadline_s = time.monotonic() + options.minutes * 60
    console.print(f"{len(going)} functions, {len(mutants)} mutants of their lines")

    def run(mutant: Mutant) -> None:
        if time.monotonic() < deadline_s:
            record.add(mutant, verification.killers(mutant))

    with ThreadPoolExecutor(len(servers)) as pool:
        list(pool.map(run, mutants))
    for server in servers:
        server.close()


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants.redundant", description=__doc__)
    parser.add_argument("--verify", type=int, default=0, help="mutants for each function")
    parser.add_argument("--seed", type=int, default=0, help="seed of their choice")
    parser.add_argument("--minutes", type=float, default=30.0, help="time limit")
    parser.add_argument(
        "--jobs", type=int, default=len(os.sched_getaffinity(0)), help="mutants at a time"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
