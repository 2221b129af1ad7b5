"""A plugin of pytest that records which lines each test runs, and how long it takes."""

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from coverage import Coverage

from tools.mutants.packages import PRODUCT, ROOT

FOLDER = "SWITCHROOM_MUTANTS_FOLDER"  # where the two files are written
LINES, SECONDS = "lines.coverage", "seconds.json"


class LineRecorder:
    """Records the lines of the measured packages by test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seconds = defaultdict[str, float](float)
        self._failed: set[str] = set()
        self._coverage = Coverage(
            data_file=str(folder / LINES),
            config_file=False,
            concurrency=["thread", "greenlet"],
            source=[str(ROOT / each) for each in PRODUCT],
        )
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Attribute the lines that run now to a test."""
        self._coverage.switch_context(item.nodeid)
        result = yield
        self._coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up a test's seconds, and note whether it failed."""
        self._seconds[report.nodeid] += report.duration
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_unconfigure(self) -> None:
        """Write what was recorded about the tests that pass."""
        self._coverage.stop()
        self._coverage.save()
        passed = {each: s for each, s in self._seconds.items() if each not in self._failed}
        (self._folder / SECONDS).write_bytes(msgspec.json.encode(passed))


def pytest_configure(config: pytest.Config) -> None:
    """Start to record."""
    config.pluginmanager.register(LineRecorder(Path(os.environ[FOLDER])), "line-recorder")
