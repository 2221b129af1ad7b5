"""The start of commands: what they import, what they cost, and their completion."""

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.harness.cli.forked import run_forked

SLOW = ("aiohttp", "pydantic", "pydantic_settings", "redis", "sqlalchemy", "uvloop")
ROUNDS = 3
MAX_RATIO = 30.0  # to an empty Python program; before commands imported by name it was 45


@pytest.mark.parametrize(
    "words",
    [
        "--version", "--help", "flow --help", "flow list", "call list",
        "node list", "webhook tail", "account --help", "account show", "cdr list",
        "number list", "profile list", "listen --number 1 --forward http://localhost:1",
    ],
)  # fmt: skip
def test_commands_import_little(words: str, tmp_path: Path) -> None:
    """A command starts without libraries that it does not use."""
    program = (
        "import sys; from cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print([each for each in {SLOW} if each in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words.split()],
        cwd=tmp_path, capture_output=True, text=True, check=True, env=_without_servers(tmp_path),
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == "[]"


def _without_servers(folder: Path) -> dict[str, str]:
    """Return an environment without settings of this project, and without profiles."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("SWITCHROOM_")}
    return {**own, "XDG_CONFIG_HOME": str(folder)}


def test_a_command_starts_fast(tmp_path: Path) -> None:
    """The CPU time of a command is a fraction of a second: a small multiple of Python's own."""
    empty = min(_cpu_s(["-c", "pass"], tmp_path) for _ in range(ROUNDS))
    command = ["-m", "switchroom", "flow", "list"]
    started = min(_cpu_s(command, tmp_path) for _ in range(ROUNDS))
    assert started / empty < MAX_RATIO


def _cpu_s(words: Sequence[str], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    root = str(Path(__file__).parents[3])
    subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_each_shell_has_a_completion_script(tmp_path: Path, shell: str) -> None:
    """The script knows nouns, verbs and options."""
    status, script, err = await run_forked(("completion", shell), tmp_path, {})
    assert (status, err) == (0, "")
    assert all(each in script for each in ("flow", "publish", "if-version"))


async def test_bash_completes_verbs_and_options(tmp_path: Path) -> None:
    """Bash, with the script, completes a verb, an option and its values."""
    _, script, _ = await run_forked(("completion", "bash"), tmp_path, {})
    (tmp_path / "completion").write_text(script)
    assert _completed(tmp_path, "flow", "pub") == ["publish"]
    assert _completed(tmp_path, "flow", "put", "--no-p") == ["--no-publish"]
    assert _completed(tmp_path, "flow", "list", "--output", "y") == ["yaml"]


def _completed(folder: Path, *typed: str) -> list[str]:
    """Return what bash completes for the last word."""
    program = (
        'source completion; COMP_WORDS=(switchroom "$@"); COMP_CWORD=$#;'
        ' COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE};'
        " $(complete -p switchroom | sed -E 's/.*-F ([^ ]+).*/\\1/');"
        ' printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", program, "bash", *typed],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [each.strip() for each in done.stdout.splitlines()]
