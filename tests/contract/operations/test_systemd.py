"""The systemd units are valid, and expose little."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

UNITS = sorted((Path(__file__).parents[3] / "docs/operations/systemd").glob("*.service"))
EXEC = re.compile(r"^(ExecStart(?:Pre)?)=.*", re.MULTILINE)  # programs that are not installed here


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_systemd_knows_every_key(unit: Path, tmp_path: Path) -> None:
    """It has no warning, and rates the exposure as low: 2.5 of 10 at most."""
    (path := tmp_path / unit.name.replace("@", "@1")).write_text(
        EXEC.sub(r"\1=/bin/true", unit.read_text())
    )
    checked = run("verify", str(path))
    assert (checked.returncode, checked.stderr) == (0, "")
    assert run("security", "--offline=true", "--threshold=25", str(path)).returncode == 0


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run systemd-analyze."""
    command = ["systemd-analyze", "--no-pager", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)
