"""docker-compose.yml is valid."""

import subprocess
import sys
from pathlib import Path

PATH = Path(__file__).parents[3] / "docker-compose.yml"


def test_it_is_valid() -> None:
    """By the schema of the Compose specification."""
    checked = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", PATH],
        check=False,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout
