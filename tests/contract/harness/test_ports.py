"""Ports of processes that run at the same time."""

import os
import subprocess
import sys
from pathlib import Path

from tests.harness.ports import free_port

PROGRAM = "from tests.harness.ports import free_port; print(free_port())"


def test_a_process_with_other_temporary_files_has_other_ports(tmp_path: Path) -> None:
    """Trials of mutants have a folder each, and run beside each other."""
    own = [free_port() for _ in range(3)]
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(Path.cwd())}
    command = (sys.executable, "-c", PROGRAM)
    others = [
        int(subprocess.check_output(command, env=environment, text=True)) for _ in range(len(own))
    ]
    assert not set(others) & set(own)
    assert min(others) > max(own) or max(others) < min(own)
