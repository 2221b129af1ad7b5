"""`switchroom dev` as a process: an obstacle is a sentence and an exit status, no traceback."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import pytest

from dev.lab.plan import FILE

ROOT = Path(__file__).parents[3]
NOT_DONE = 2


def run(
    folder: Path, *arguments: str, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder without a `.env`."""
    return subprocess.run(
        [sys.executable, "-m", "switchroom", "dev", *arguments],
        cwd=folder,
        env={**os.environ, "XDG_STATE_HOME": str(folder), **(environ or {})},
        capture_output=True,
        text=True,
        check=False,
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    """Return the one sentence of a command that has done nothing."""
    assert done.returncode == NOT_DONE, done.stderr
    assert done.stderr.startswith("switchroom dev: ")
    assert "Traceback" not in done.stderr
    *lines, hint = done.stderr.removeprefix("switchroom dev: ").strip().splitlines()
    code = hint.strip().partition(":")[0]
    assert hint == f"  {code}: `switchroom error show {code}` explains it"
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("words", "code"),
    [("status", "no_lab"), ("up --nodes 3", "invalid_usage"),
     ("call +1 --sip 127.0.0.1:1", "call_failed"), ("up --dir /dev/null/lab", "unusable_folder")],
)  # fmt: skip
def test_the_code_of_a_failure(tmp_path: Path, words: str, code: str) -> None:
    """Its page explains it, as with other commands."""
    assert f"  {code}: `switchroom error show {code}`" in run(tmp_path, *words.split()).stderr


@pytest.mark.parametrize("command", ["down", "status", "logs", "reset"])
def test_there_is_no_lab(tmp_path: Path, command: str) -> None:
    """The folder is named, and what starts one."""
    expected = f"no lab is in {tmp_path}/switchroom/dev: `switchroom dev` starts one"
    assert said(run(tmp_path, command)) == expected


def test_nothing_runs_a_pbx(tmp_path: Path) -> None:
    """Without Docker on the PATH, `--pbx docker` says so; nothing was written."""
    environ = {"PATH": str(tmp_path / "empty")}
    text = said(run(tmp_path, "up", "--pbx", "docker", environ=environ))
    assert text.startswith("nothing here runs a PBX. Looked for: a Docker engine")
    assert list(tmp_path.iterdir()) == []


def test_an_old_asterisk_on_the_path(tmp_path: Path) -> None:
    """Its version is named."""
    program = tmp_path / "asterisk"
    program.write_text("#!/bin/sh\necho Asterisk 16.28.0\n")
    program.chmod(0o755)
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    text = said(run(tmp_path, "up", "--pbx", "path", environ=environ))
    assert f"{program} says `Asterisk 16.28.0`: version 20 or later is needed" in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("up", "--nodes", "3"), "--nodes: expected 1 or 2"),
        (("up", "--port-base", "80"), "--port-base: expected 0, or 1024 to 63999"),
        (("up", "--dir", "/dev/null/lab"), "/dev/null/lab/dev.json: not a directory; choose"),
        (("call", "+1", "--digits", "12x"), "--digits: X is on no key"),
        (("call", "+1", "--sip", "here"), "--sip: expected HOST:PORT"),
        (("call", "+1", "--sip", "127.0.0.1:1"), "no phone system responds at 127.0.0.1:1"),
        (("call", "+47 21 93 00 00", "--sip", "127.0.0.1:1"), "no phone system responds"),
        (("call", "tel:+47-21930000", "--sip", "127.0.0.1:1"), "no phone system responds"),
        (("call", "+1\r\nX: y"), "NUMBER: expected a number"),
        (("call", "sales;tag=x"), "NUMBER: expected a number"),
        (("call", "\udcff"), "NUMBER: expected a number"),
        (("call", "x" * 65), "NUMBER: expected a number"),
        (("call", "+1", "--from", "1\vx"), "--from: expected a number"),
        (("call", "+1", "--after-s", "nan"), "--after-s: expected 0 to 3600"),
        (("call", "+1", "--sip", "127.0.0.1:99999"), "--sip: expected HOST:PORT"),
        (("call", "+1", "--sip", "127.0.0.1:0"), "--sip: expected HOST:PORT"),
        (("call", "+1", "--sip", "[::1]:5060"), "[::1] cannot be called from 127.0.0.1"),
        (("call", "+1", "--sip", "192.0.2.1:5060"), "192.0.2.1 cannot be called from 127.0.0.1"),
    ],
)
def test_wrong_usage(tmp_path: Path, arguments: tuple[str, ...], expected: str) -> None:
    """The option is named, and what is allowed."""
    printed = run(tmp_path, *arguments).stderr
    assert "Traceback" not in printed
    assert f"switchroom dev: {expected}" in printed


def test_a_damaged_file(tmp_path: Path) -> None:
    """It is named, and what to do."""
    (tmp_path / FILE).write_text("{")
    text = said(run(tmp_path, "status", "--dir", str(tmp_path)))
    assert text.startswith(f"{tmp_path / FILE} is damaged")


@pytest.mark.skipif(
    not Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").exists(),
    reason="this Python belongs to no system",
)
def test_a_python_of_the_system_is_not_changed() -> None:
    """The sentence has the commands for an environment of one's own."""
    program = (
        "from dev.errors import PackagesMissing\n"
        "from dev.setup.python_packages import install_packages\n"
        "try: install_packages(['redis'])\n"
        "except PackagesMissing as error: print(error)\n"
    )
    python = Path(sys.base_prefix) / "bin/python3"
    printed = subprocess.run(
        [python, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "this Python belongs to the system" in printed
    assert "python3 -m venv" in printed
    assert "switchroom[engine,speech,api,lab]" in printed
