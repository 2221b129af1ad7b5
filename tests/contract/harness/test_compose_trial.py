"""`make compose-trial` where it cannot try anything."""

import os
import subprocess
import sys


def test_it_fails_without_docker() -> None:
    """It says that nothing was started, and what else can be done."""
    trial = subprocess.run(
        [sys.executable, "-m", "tools.compose_trial"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": ""},
    )
    assert trial.returncode == 1
    assert "nothing was started, because no Docker engine" in trial.stderr
