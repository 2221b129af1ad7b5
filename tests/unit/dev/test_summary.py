"""What a start prints when the lab is ready."""

import shlex
from pathlib import Path

from cli.commands.account import account as app
from cli.tree import app as commands
from dev.lab.lifecycle import Lab
from dev.lab.plan import Plan
from dev.lab.summary import summary, summary_value


def test_it_says_how_to_open_a_new_account(tmp_path: Path) -> None:
    """By commands that exist."""
    text = summary(Lab.create(tmp_path, Plan()), 1)
    typed = [line.strip() for line in text.splitlines() if "switchroom account" in line]
    assert len(typed) == 2
    for command in typed:
        start = "switchroom account "
        assert command.startswith(start)
        _, bound, *_ = app.parse_args(shlex.split(command.removeprefix(start)))
        assert "+47" in bound.arguments["allow"]


def test_it_says_what_the_phones_are_for(tmp_path: Path) -> None:
    """They are no agents until a command, which exists, makes them such."""
    text = summary(Lab.create(tmp_path, Plan()), 1)
    assert "agents  " not in text
    (command,) = [line.strip() for line in text.splitlines() if "switchroom agent set" in line]
    commands.parse_args(shlex.split(command.removeprefix("switchroom ")), exit_on_error=False)


def test_it_names_the_file_with_the_settings(tmp_path: Path) -> None:
    """Commands read `.env` of their folder only; another file is named, and read by the shell."""
    text = summary(Lab.create(tmp_path, Plan()), 1)
    assert "SWITCHROOM_RPC_TOKEN in .env)" in text
    assert "(. ./.env; switchroom profile set" in text
    own = tmp_path / "my lab.env"
    text = summary(Lab.create(tmp_path, Plan(settings=str(own))), 1)
    assert f"with the settings in {own}, first type:" in text
    assert f"(. '{own}'; switchroom profile set" in text
    assert " .env of this folder" not in text


def test_programs_get_no_secrets(tmp_path: Path) -> None:
    """The output for programs has addresses and names, and nothing that opens a door."""
    lab = Lab.create(tmp_path, Plan(nodes=2, port_base=21_000))
    value = summary_value(lab)
    assert value["restUrl"] == "http://127.0.0.1:21001"
    assert len(value["sipAddresses"]) == 2
    secrets = {text for name, text in lab.settings.items() if name.endswith(("KEY", "SECRET"))}
    assert not secrets & {str(each) for each in value.values()}
