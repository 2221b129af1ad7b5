"""docker-compose.yml and docker-compose.tls.yml are valid."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", ["docker-compose.yml", "docker-compose.tls.yml"])
def test_it_is_valid(name: str) -> None:
    """By the schema of the Compose specification."""
    schema = ("--builtin-schema", "vendor.compose-spec")
    checked = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *schema, ROOT / name],
        check=False,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout
