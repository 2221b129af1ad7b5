"""The console's pure modules, by Node's own test runner: a Python test for each file of theirs.

The files are in tests/unit/console/js; unit tests start no program, so their runner is here.
`SCHEMAS` is the address of a folder with the JSON Schemas that the REST layer serves.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.harness.npm import missing_node
from wire.schemas import DOCUMENTS

FILES = sorted((Path(__file__).parents[2] / "unit/console/js").glob("*.test.mjs"))
_LIMIT_S = 100


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide the folder with the schemas."""
    folder = tmp_path_factory.mktemp("schemas")
    for name, schema in DOCUMENTS.items():
        (folder / name).write_text(json.dumps(schema()))
    return folder


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_tests_of_a_module_pass(path: Path, schemas: Path) -> None:
    """What Node reports is shown."""
    if reason := missing_node():
        pytest.skip(reason)
    done = subprocess.run(
        ("node", "--test", str(path)),
        env={**os.environ, "SCHEMAS": f"{schemas.as_uri()}/"},
        capture_output=True,
        text=True,
        check=False,
        timeout=_LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
