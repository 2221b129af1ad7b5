"""Packages of the lab, on a system that is no Debian."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "harness" / "debian.py"


@pytest.mark.parametrize(
    ("has_docker", "status", "said"),
    [
        (True, 0, "no Debian: not installed are curl sox\n"),
        (False, 1, "Debian or Ubuntu is needed, or Docker, in which `make up` runs the lab\n"),
    ],
)
def test_a_system_without_packages_of_debian(
    tmp_path: Path, *, has_docker: bool, status: int, said: str
) -> None:
    """With Docker the lab needs no packages; without it, a sentence says what is needed."""
    if has_docker:
        (tmp_path / "docker").touch(mode=0o755)
    done = subprocess.run(
        [sys.executable, PROGRAM, "curl", "sox"],
        env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (status, said)
