"""Programs that the tests start: found again, ended, and never left behind."""

import os
from pathlib import Path

from dev.servers.process import Process


def test_another_program_with_its_id_is_not_taken_for_it(tmp_path: Path) -> None:
    """The file of an ended program whose id now belongs to another finds nothing."""
    (tmp_path / "pid").write_text(f"{os.getpid()} 1\n")
    assert Process.load(tmp_path / "pid") is None
