"""`switchroom convert twiml`: what is printed where, and the exit status."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


def run(file: Path | str, content: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = (sys.executable, "-m", "engine", "convert", "twiml", str(file))
    return subprocess.run(command, input=content, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("verbs", "status", "said"),
    [
        ("<Say>a</Say>", 0, ""),
        ("<Say voice='x'>a</Say>", 0, ":1: <Say> voice is not converted"),
        ("<Say>a</Say>\n<Enqueue/>", 1, ":2: <Enqueue> has no counterpart"),
    ],
)
def test_the_tree_is_printed(tmp_path: Path, verbs: str, status: int, said: str) -> None:
    """On standard output; remarks are on standard error with their lines; a loss is status 1."""
    file = tmp_path / "menu.xml"
    file.write_text(f"<Response>{verbs}</Response>")
    for done in (run(file), run("-", file.read_bytes())):
        assert done.returncode == status
        assert json.loads(done.stdout) == {"type": "say", "data": {"text": "a"}}
        assert said in done.stderr.decode()


def test_what_is_not_twiml_is_an_error(tmp_path: Path) -> None:
    """Status 2, one line, and nothing on standard output."""
    (tmp_path / "page.xml").write_text("<html/>")
    for file, said in (
        ("page.xml", "<Response> is expected"),
        ("none.xml", "no such file"),
        ("/dev/zero", "larger than"),  # has no end
    ):
        done = run(tmp_path / file)
        assert (done.returncode, done.stdout) == (2, b"")
        assert said in done.stderr.decode()
