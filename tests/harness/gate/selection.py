"""Deselects the tests of `tests/full.toml`, unless `--full` or the command line asks for them.

pytest tests/live                        # without them
pytest tests/live --full                 # with them
pytest tests/live/streams/test_x.py      # who names a file, a function or a variant gets it
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.harness.gate.full_list import matches
from tests.harness.gate.results import LEFT_OUT


class Selection:
    """The plugin; an entry that matches no test of its file is an error."""

    def __init__(self, entries: Sequence[str]) -> None:
        self._entries: dict[str, list[str]] = {}  # by file: thousands of tests are looked up
        for entry in entries:
            self._entries.setdefault(_file(entry), []).append(entry)

    @pytest.hookimpl(tryfirst=True)  # before -k, which would hide tests from the check of entries
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        named = [_Argument(config, each) for each in config.args]
        unknown = self._unknown_entries(named, [item.nodeid for item in items])
        if unknown:
            text = f"tests/full.toml lists no test: {', '.join(unknown)}"
            # Raised in a worker, it would not reach the terminal.
            report = pytest.CollectReport("tests/full.toml", "failed", text, [])
            config.hook.pytest_collectreport(report=report)
        if config.getoption("full"):
            return
        left_out = [item for item in items if self._is_left_out(item.nodeid, named)]
        config.stash[LEFT_OUT] = len(left_out)
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            without = set(left_out)
            items[:] = [item for item in items if item not in without]

    def _is_left_out(self, nodeid: str, named: Sequence["_Argument"]) -> bool:
        is_listed = any(matches(entry, nodeid) for entry in self._entries.get(_file(nodeid), ()))
        return is_listed and not any(each.names(nodeid) for each in named)

    def _unknown_entries(
        self, named: Sequence["_Argument"], nodeids: Sequence[str]
    ) -> Sequence[str]:
        """Return the entries without a test whose file was collected completely."""
        by_file: dict[str, list[str]] = {}
        for nodeid in nodeids:
            by_file.setdefault(_file(nodeid), []).append(nodeid)
        return [
            entry
            for file, entries in self._entries.items()
            if file in by_file and any(each.collects(file) for each in named)
            for entry in entries
            if not any(matches(entry, nodeid) for nodeid in by_file[file])
        ]


def _file(test: str) -> str:
    return test.partition("::")[0]


class _Argument:
    """A folder, a file or a test of the command line."""

    def __init__(self, config: pytest.Config, argument: str) -> None:
        path, _, self._test = argument.partition("::")
        found = (config.invocation_params.dir / path).resolve()
        self._is_file = found.is_file()
        root = config.rootpath
        self._path = found.relative_to(root) if found.is_relative_to(root) else found

    def names(self, nodeid: str) -> bool:
        """Return whether it is the file of a test, or the test, but not its folder."""
        entry = f"{self._path}::{self._test}" if self._test else str(self._path)
        return self._is_file and matches(entry, nodeid)

    def collects(self, file: str) -> bool:
        """Return whether it collects all tests of a file."""
        return not self._test and Path(file).is_relative_to(self._path)
