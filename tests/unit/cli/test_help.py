"""`--help`: every command and every argument is explained."""

import inspect
import io
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import cyclopts
import pytest
from rich.console import Console

from cli.commands.account import account
from cli.database.commands import COMMANDS
from cli.help import usage_panel
from cli.output import OutputFormat
from cli.tree import NOUNS, OTHERS, app

# Programs, which show nothing but logs, and a script.
WITHOUT_OUTPUT = {
    *("switchroom engine", "switchroom api", "switchroom completion"),
    *("switchroom dev", "switchroom dev logs", "switchroom speech", "switchroom streams"),
}


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


def test_groups_are_described_without_an_import() -> None:
    """The list of commands shows the description that each group, or command, has of itself."""
    for group, listed in ((app, {**NOUNS, **OTHERS}), (account, COMMANDS)):
        for name, (_, text) in listed.items():
            assert group[name].help.splitlines()[0] == text, name


def test_the_help_of_a_command_is_whole() -> None:
    """The help of a command that is imported by name has more than the line of the list."""
    assert "Example: switchroom doctor" in app["doctor"].help
    assert "Do-not-call entries" in account["erase"].help


def test_no_argument_is_named_like_an_option() -> None:
    """The error for a missing argument names it as the usage line does."""
    assert _error("call", "timeline") == 'Command "call timeline" requires CALL-ID.'
    assert _error("route", "set", "+4721930000") == 'Command "route set" requires ACTION.'
    assert _error("call", "--to") == 'Command "call" parameter --to requires an argument.'


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("call", "--number", "1"), "Unknown option: --number."),
        (("call", "--acount=acme"), "Unknown option: --acount=acme. Did you mean --account?"),
        (("call", "-x"), "Unknown option: -x."),
    ],
)
def test_only_a_similar_option_is_suggested(words: tuple[str, ...], error: str) -> None:
    """Options resemble each other by their letters, not by their dashes."""
    assert _error(*words) == error


def test_an_argument_too_many_is_named() -> None:
    """Such as a table of calls in the place of one id."""
    error = 'Command "call hangup" has too many arguments: from'
    assert _error("call", "hangup", "call", "from") == f"{error}."
    assert _error("call", "hangup", "call", "from", "to", "age") == f"{error} and 2 more."


def _error(*words: str) -> str:
    with pytest.raises(cyclopts.CycloptsError) as raised:
        app(words, exit_on_error=False, print_error=False)
    shown = io.StringIO()
    Console(width=100, file=shown).print(usage_panel(raised.value).renderable)
    return shown.getvalue().strip()


def test_each_command_has_formats() -> None:
    """Programs can read what a command shows, in the same way everywhere."""
    without = []
    for name, command in shown_commands():
        formats = [one for one in command.assemble_argument_collection() if "--output" in one.names]
        if not formats:
            without.append(name)
        else:
            assert formats[0].hint == OutputFormat, name
            assert "-o" in formats[0].names, name
    assert set(without) == WITHOUT_OUTPUT


def test_no_option_is_twice_in_a_help() -> None:
    """Each name of an option belongs to one parameter of a command."""
    twice = []
    for name, command in shown_commands():
        arguments = command.assemble_argument_collection()
        names = Counter(each for one in arguments for each in one.names if each.startswith("-"))
        twice += [f"{name} {option}" for option, count in names.items() if count > 1]
    assert twice == []


def test_each_command_has_an_example(tmp_path: Path) -> None:
    """The help of each command, and of each group, has an example that can be typed."""
    (tmp_path / "numbers.txt").touch()  # a file that exists, for `account dnc import`
    texts = [
        (name, command.default_command.__doc__ if command.default_command else command.help)
        for name, command in everything()
    ]
    with chdir(tmp_path):
        assert [fault for name, text in texts if (fault := _fault_of_help(name, text or ""))] == []


def test_a_paragraph_of_a_help_is_a_line() -> None:
    """The terminal breaks it by its width, not by that of our source."""
    broken = [
        name
        for name, command in everything()
        if any("\n" in block for block in inspect.cleandoc(command.help).split("\n\n"))
    ]
    assert broken == []


def everything() -> Iterator[tuple[str, cyclopts.App]]:
    """Yield what `--help` shows: the program itself, its groups and commands."""
    yield "switchroom", app
    yield from (pair for pair in commands_of(app, "switchroom") if pair[1].show)


def shown_commands() -> Iterator[tuple[str, cyclopts.App]]:
    """Yield the commands that do something."""
    return (pair for pair in everything() if pair[1].default_command is not None)


def _fault_of_help(name: str, text: str) -> str:
    found = re.search(r"^\s*Example: (.+)$", text, re.MULTILINE)
    return _fault_of_example(name, found[1]) if found else f"{name}: no example"


def _fault_of_example(name: str, example: str) -> str:
    typed = shlex.split(example)
    if typed[: len(name.split())] != name.split() and not _is_default(name, typed):
        return f"{name}: the example is of another command: {example}"
    try:
        app.parse_args(typed[1:], exit_on_error=False, print_error=False)
    except cyclopts.CycloptsError as error:
        return f"{example}: {error}"
    return ""


def _is_default(name: str, typed: list[str]) -> bool:
    """Return whether a command is what its group does by default."""
    return typed[1] == name.split()[1]
