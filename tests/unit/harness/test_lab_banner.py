"""What `make up` prints when the lab is ready."""

import shlex
from pathlib import Path

import pytest

from api.cli.commands import account as app
from tests.harness.lab.commands import banner
from tests.harness.lab.env import ensure_env


@pytest.mark.parametrize("prefix", ["", "docker compose exec api "])
def test_it_says_how_to_open_a_new_account(tmp_path: Path, prefix: str) -> None:
    """By commands that exist, where the database is."""
    text = banner(ensure_env(tmp_path / ".env", {}), prefix)
    commands = [line.strip() for line in text.splitlines() if "switchroom account" in line]
    assert len(commands) == 2
    for command in commands:
        start = f"{prefix}switchroom account "
        assert command.startswith(start)
        _, bound, *_ = app.parse_args(shlex.split(command.removeprefix(start)))
        assert "+47" in bound.arguments["allow"]
