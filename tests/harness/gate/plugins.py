"""Registers the plugins of the gate; `tests/conftest.py` does so for every ring."""

from pathlib import Path

import pytest

from tests.harness.evidence.plugin import Evidence
from tests.harness.gate import full_list
from tests.harness.gate.frozen_heap import FrozenHeap
from tests.harness.gate.results import ResultsWriter, WorkerOutput
from tests.harness.gate.selection import Selection

EVIDENCE = ".evidence"
WITH_PROGRAMS = ("contract", "live", "security")


def add_options(parser: pytest.Parser) -> None:
    """Add the options of the plugins."""
    parser.addoption("--full", action="store_true", help="also run the tests of tests/full.toml")
    parser.addoption("--results", type=Path, help="write outcomes, skips and lag to this file")
    text = "write what is known about failed tests with real programs to this folder"
    parser.addoption("--evidence", type=Path, default=Path(EVIDENCE), help=text)


def register(config: pytest.Config, full: Path = full_list.PATH) -> None:
    """Register the plugins, with the list of a file."""
    plugins = config.pluginmanager
    plugins.register(Selection(full_list.read_entries(full)), "full_list")
    folders = [config.rootpath / "tests" / each for each in WITH_PROGRAMS]
    evidence = Evidence(config.rootpath / config.getoption("evidence"), folders)
    plugins.register(evidence, "evidence")
    plugins.register(FrozenHeap(), "frozen_heap")
    results = config.getoption("results")
    if hasattr(config, "workeroutput"):
        plugins.register(WorkerOutput(), "worker_output")
    elif results is not None:
        plugins.register(ResultsWriter(results), "results")
