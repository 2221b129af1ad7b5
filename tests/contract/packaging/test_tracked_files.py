"""The repository has sources only: nothing that a command makes."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(
    not (ROOT / ".git").exists() or shutil.which("git") is None,
    reason="not a clone, or without git",
)
def test_no_ignored_file_is_tracked() -> None:
    """A folder that was committed before .gitignore names it would stay, as the built site did."""
    command = ("git", "ls-files", "--cached", "--ignored", "--exclude-standard")
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert found.stdout == ""
