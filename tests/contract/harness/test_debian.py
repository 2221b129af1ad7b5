"""Packages of the lab, on a system that is no Debian."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_a_system_without_packages_of_debian(tmp_path: Path) -> None:
    """The lab does not need them, so make goes on; a sentence names what tests may miss."""
    done = subprocess.run(
        [sys.executable, "-m", "dev.setup.debian", "curl", "sox"],
        cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "no Debian: not installed are curl sox\n")
