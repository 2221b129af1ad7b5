"""`--help`: every command and every argument is explained."""

from collections.abc import Iterator

import cyclopts

from engine.__main__ import app


def commands_of(group: cyclopts.App, path: str) -> Iterator[tuple[str, cyclopts.App]]:
    """Yield every command of a group, also those of its subgroups, with its full name."""
    for name in group:
        if name.startswith("-"):
            continue
        command = group[name]
        yield f"{path} {name}", command
        yield from commands_of(command, f"{path} {name}")


def test_everything_has_help() -> None:
    """No command and no argument that `--help` shows is without an explanation."""
    missing = []
    for name, command in commands_of(app, "switchroom"):
        if not command.help:
            missing.append(name)
        if command.default_command is None:
            continue
        shown = (each for each in command.assemble_argument_collection() if each.show)
        missing += [f"{name} {each.name}" for each in shown if not each.parameter.help]
    assert missing == []
