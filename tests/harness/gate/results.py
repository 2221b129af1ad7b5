"""What a ring of tests ended with: the outcome of each test, skips with their reasons.

With `--results FILE`, the process that the workers report to writes it there as JSON.
"""

import gc
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct, field

from tests.harness.gate.full_list import matches

LEFT_OUT = pytest.StashKey[int]()  # the number of tests that only `make full` runs
LAG = (
    "lag"  # an attribute of the reports of failures: what was late, in words; empty if nothing was
)
MAX_NAMED = 5


class Results(Struct):
    """Tests by outcome; a failure has the words for its lag, a skip its reason.

    `left_out` is the number of tests that only `make full` runs; `faults` are those of the run
    itself: its tests may say less than they seem to.
    """

    passed: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    left_out: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, nodeid: str, outcome: str, text: str = "") -> None:
        """Count a phase of a test: a test that fails in one of them has failed.

        The lag is that of the first phase that fails: what follows may be due to that.
        """
        if outcome == "failed":
            self.failed.setdefault(nodeid, text)
            self.passed.discard(nodeid)
        elif outcome == "skipped":
            self.skipped[nodeid] = text
        elif nodeid not in self.failed:
            self.passed.add(nodeid)

    def replace(self, other: "Results") -> None:
        """Take the outcomes of tests that ran again instead of their first ones."""
        for nodeid in {*other.passed, *other.failed, *other.skipped}:
            self.failed.pop(nodeid, None)
        self.passed |= other.passed
        self.failed |= other.failed
        self.skipped |= other.skipped
        self.faults += other.faults

    def unexpected_skips(self, allowed: Sequence[str]) -> list[str]:
        """Return the skipped tests that may not be skipped."""
        return [
            nodeid for nodeid in self.skipped if not any(matches(each, nodeid) for each in allowed)
        ]


class ResultsWriter:
    """The plugin of the process that the workers report to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._results = Results()
        self._collected: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        nodeid = without_group(report.nodeid)
        if report.failed:
            self._results.add(nodeid, "failed", getattr(report, LAG, ""))
        elif report.skipped:
            self._results.add(nodeid, "skipped", _reason(report))
        elif report.when == "call":
            self._results.add(nodeid, "passed")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:  # a whole file
            self._results.add(report.nodeid, "skipped", _reason(report))
        elif report.failed:
            self._results.faults.append(f"not collected: {report.nodeid or 'a list of the gate'}")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn which tests run in this process."""
        self._collected |= {without_group(item.nodeid) for item in session.items}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Learn which tests run in workers; all have collected the same."""
        self._collected |= {without_group(each) for each in ids}

    def pytest_internalerror(self, excrepr: object) -> None:
        """Note an error of pytest or of a plugin, which xdist only prints."""
        _, _, last = str(excrepr).rstrip().rpartition("\n")
        self._results.faults.append(f"internal error: {last}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Learn what a worker has left out; all have collected the same."""
        output: dict[str, Any] = getattr(node, "workeroutput", {})  # without: it has crashed
        self._results.left_out = max(self._results.left_out, output.get("left_out", 0))
        self._results.skipped |= output.get("skipped_files", {})
        self._results.faults += (f"left open: {each}" for each in output.get("left_open", ()))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._results.left_out += session.config.stash.get(LEFT_OUT, 0)
        results = self._results
        unknown = self._collected - results.passed - results.failed.keys() - results.skipped.keys()
        if unknown:  # all that were left, if somebody has interrupted it
            names = ", ".join(sorted(unknown)[:MAX_NAMED])
            results.faults.append(f"{len(unknown)} tests have no outcome: {names}")
        self._path.write_bytes(msgspec.json.encode(self._results))


class WorkerOutput:
    """The plugin of a worker: tells the process that it reports to what would be lost.

    xdist passes on one of several files that are skipped with the same words, and nothing of what
    pytest finds after the last test.
    """

    def __init__(self) -> None:
        self._skipped_files: dict[str, str] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._skipped_files[report.nodeid] = _reason(report)

    @pytest.hookimpl(tryfirst=True)  # xdist sends it at the end of the session
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output: dict[str, object] = session.config.workeroutput  # type: ignore[attr-defined]  # xdist adds it to its workers
        output["left_out"] = session.config.stash.get(LEFT_OUT, 0)
        output["skipped_files"] = self._skipped_files
        output["left_open"] = _left_open()


def _left_open() -> list[str]:
    """Return the errors of what only the collector of garbage closes."""
    found = list[str]()
    hook, sys.unraisablehook = sys.unraisablehook, lambda each: found.append(str(each.exc_value))
    try:
        gc.unfreeze()
        gc.collect()
    finally:
        sys.unraisablehook = hook
    return found


def without_group(nodeid: str) -> str:
    """Return the id of a test without the group that xdist appends."""
    at = nodeid.rfind("@")
    return nodeid[:at] if at > nodeid.rfind("]") else nodeid  # as xdist finds it


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    if hasattr(report, "wasxfail"):  # an expected failure tests no more than a skip
        return f"expected to fail: {report.wasxfail}"
    found = report.longrepr
    text = found[2] if isinstance(found, tuple) else str(found)
    return text.removeprefix("Skipped: ")
