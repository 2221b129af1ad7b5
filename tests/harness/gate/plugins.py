"""Registers the plugins of the gate; `tests/conftest.py` does so for every ring."""

from pathlib import Path

import pytest

from tests.harness.gate import full_list
from tests.harness.gate.selection import Selection


def add_options(parser: pytest.Parser) -> None:
    """Add the options of the plugins."""
    parser.addoption("--full", action="store_true", help="also run the tests of tests/full.toml")


def register(config: pytest.Config, full: Path = full_list.PATH) -> None:
    """Register the plugins, with the list of a file."""
    config.pluginmanager.register(Selection(full_list.read_entries(full)), "full_list")
