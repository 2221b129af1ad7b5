"""docker-compose.yml: valid, and two of everything but the store that fit each other."""

import subprocess
import sys
from pathlib import Path

PATH = Path(__file__).parents[3] / "docker-compose.yml"


def test_it_is_valid() -> None:
    """The Compose specification's own schema finds no fault."""
    checked = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", PATH],
        check=False,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout
