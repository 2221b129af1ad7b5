"""The console's pure modules, by Node's own test runner: a Python test for each file of theirs.

The files are in tests/unit/console/js; unit tests start no program, so their runner is here.
"""

import subprocess
from pathlib import Path

import pytest

from tests.harness.npm import missing_node

FILES = sorted((Path(__file__).parents[2] / "unit/console/js").glob("*.test.mjs"))
_LIMIT_S = 100


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_tests_of_a_module_pass(path: Path) -> None:
    """What Node reports is shown."""
    if reason := missing_node():
        pytest.skip(reason)
    done = subprocess.run(
        ("node", "--test", str(path)), capture_output=True, text=True, check=False, timeout=_LIMIT_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
