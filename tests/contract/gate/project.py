"""A folder of tests, which another pytest runs with the plugins of this gate."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[3]
CONFTEST = """
from pathlib import Path

from tests.harness.gate import plugins

HERE = Path(__file__).parent

def pytest_addoption(parser):
    plugins.add_options(parser)

def pytest_configure(config):
    plugins.register(config, full=HERE / "full.toml")
"""
SCHEDULED = """
import os
import pytest
from pathlib import Path
from tests.harness.gate.scheduling import ServersScheduling

SERVERS = {"tests/test_a.py": "a", "tests/test_b.py": "b", "tests/test_b.py::test_c": "a"}

def pytest_xdist_make_scheduler(config, log):
    return ServersScheduling(config, log, SERVERS)

@pytest.fixture(autouse=True)
def ran(request):
    with (Path(__file__).parent / os.environ["PYTEST_XDIST_WORKER"]).open("a") as file:
        file.write(f"{request.node.name}\\n")
"""
OPTIONS = ("-p", "no:cacheprovider", "--disable-plugin-autoload", "-p", "xdist")
NO_ENTRIES = "group = []\n"


class Project:
    """Tests in `folder/tests`; `full` is the text of its list."""

    def __init__(self, folder: Path, full: str = NO_ENTRIES) -> None:
        self.folder = folder
        self._tests = folder / "tests"
        self._tests.mkdir(parents=True)
        (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
        (folder / "conftest.py").write_text(CONFTEST)
        (folder / "full.toml").write_text(full)
        self.allow_skips()

    def add(self, name: str, text: str, ring: str = "") -> None:
        """Write a file of tests of a ring."""
        (self._tests / ring).mkdir(exist_ok=True)
        (self._tests / ring / name).write_text(text)

    def allow_skips(self, *tests: str) -> None:
        """Write the list of tests that may be skipped."""
        entries = [f'[[skip]]\ntest = "{each}"\nwhen = "always"\n' for each in tests]
        (self._tests / "skips.toml").write_text("\n".join(entries))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run pytest with these arguments in the folder."""
        argv = (sys.executable, "-m", "pytest", *OPTIONS, *arguments)
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(
            argv, cwd=self.folder, env=environ, check=False, text=True, capture_output=True
        )

    def passed(self, *arguments: str) -> Sequence[str]:
        """Run pytest, and return the tests that passed, without their folder."""
        ran = self.run(*arguments, "-rA", "-q")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        lines = (line.partition("PASSED tests/") for line in ran.stdout.splitlines())
        return sorted(name for _, found, name in lines if found)
