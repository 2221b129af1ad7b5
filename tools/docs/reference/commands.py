"""A page for each noun of the command line, and the table of all, from the tree of commands."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from cyclopts import App

from cli.help import paragraphs
from cli.tree import app
from tools.docs.reference.command_texts import NOTES
from tools.docs.reference.markdown import code, page, table
from tools.docs.reference.shapes import NOTHING

SOURCE = "the docstrings of its commands"
COMMON = ("--profile", "--account", "--output")
_EXAMPLE = "Example: "
_WORD = "…"
_TYPED = re.compile(r"(?<![\w-])--[a-z][a-z-]+|\bSWITCHROOM_\w+|\bhttps?://[\w.:/-]*\w")
_WORDS = {str: "text", int: "integer", float: "number", bool: "flag", Path: "path"}


def nouns() -> dict[str, App]:
    """Return the nouns, and commands without one, in the order of the help."""
    return {name: app[name] for name in app if not name.startswith("-")}


def command_pages() -> dict[str, str]:
    """Return the pages of all nouns, by name."""
    return {f"commands/{name}.md": _page(name, each) for name, each in nouns().items()}


def command_table() -> str:
    """Return the table of all nouns with their verbs."""
    rows = [
        (f"[`{name}`](commands/{name}.md)", _marked(_summary(each)), ", ".join(_links(name, each)))
        for name, each in nouns().items()
    ]
    return table(("`switchroom`", "does", "verbs"), rows)


def _links(name: str, group: App) -> Iterator[str]:
    for verb, _ in _verbs(group, name):
        short = verb.removeprefix(f"{name} ")
        yield f"[`{short}`](commands/{name}.md#{verb.replace(' ', '-')})"


def common_table() -> str:
    """Return the table of the options that most commands have."""
    arguments = {each.names[0]: each for each in _arguments(app["call"]["list"])}
    return _options(arguments[name] for name in COMMON)


def _page(name: str, group: App) -> str:
    verbs = list(_verbs(group, name))
    is_own = group.default_command and group.default_command not in {
        each.default_command for _, each in verbs
    }
    return page(
        name,
        SOURCE,
        *_text(group.help),
        NOTES.get(name, ""),
        *(_usage(name, group) if is_own else ()),
        *(part for verb, each in verbs for part in _section(verb, each)),
    )


def _verbs(group: App, path: str) -> Iterator[tuple[str, App]]:
    """Yield the commands below a group, those of groups in it too; other names are left out."""
    seen = set[Any]()
    for name in group:
        each = group[name]
        if name.startswith("-") or not each.show or each.default_command in seen:
            continue
        if each.default_command:
            seen.add(each.default_command)
            yield f"{path} {name}", each
        elif not _is_noun(name, each):
            yield from _verbs(each, f"{path} {name}")


def _is_noun(name: str, group: App) -> bool:
    """Return whether a group is a noun that has its own page."""
    return name in app and {*_functions(app[name])} == {*_functions(group)}


def _functions(group: App) -> Iterator[Any]:
    return (group[name].default_command for name in group if not name.startswith("-"))


def _section(path: str, command: App) -> Iterator[str]:
    yield f"## {path}"
    yield from _text(command.help)
    yield from _usage(path, command)


def _usage(path: str, command: App) -> Iterator[str]:
    """Yield the usage line of a command, and its options."""
    found = [each for each in _arguments(command) if each.names[0] != "*"]
    given = [_placeholder(each) for each in found if each.index is not None]
    is_client = any(each.names[0] == "--profile" for each in found)
    common = COMMON if is_client else COMMON[-1:]  # others may have an --account of their own
    own = [each for each in found if each.names[0] not in common]
    shared = [code(each.names[0]) for each in found if each.names[0] in common]
    needed = [f"{each.names[0]} {_WORD}" for each in found if each.index is None and each.required]
    rest = ["[OPTIONS]"] if len(found) > len(given) + len(needed) else []
    words = ["switchroom", path, *given, *needed, *rest]
    yield f"```text\n{' '.join(words)}\n```"
    if own:
        yield _options(own)
    if shared:
        yield f"[Common options](../commands.md#common-options): {', '.join(shared)}."


def _placeholder(argument: Any) -> str:
    name = _name(argument)
    return name if argument.required else f"[{name}]"


def _name(argument: Any) -> str:
    """Return what is typed for an argument at a place."""
    return str(argument.name.lstrip("-").upper())


def _names(argument: Any) -> str:
    """Return what is typed for an argument: its options, or a word for its place."""
    if argument.index is not None:
        return code(_name(argument))
    is_on = argument.field_info.default is True
    unusual = ("--empty-",) if is_on else ("--empty-", "--no-")
    return ", ".join(code(each) for each in argument.names if not each.startswith(unusual))


def _options(arguments: Iterable[Any]) -> str:
    rows = [
        (_names(each), _kind(each.hint), _default(each), _marked(each.parameter.help or ""))
        for each in arguments
    ]
    return table(("option", "type", "default", "meaning"), rows)


def _arguments(command: App) -> list[Any]:
    return [each for each in command.assemble_argument_collection() if each.parameter.help]


def _marked(text: str) -> str:
    """Return a text whose options, settings and addresses are code."""
    parts = text.split("`")
    parts[::2] = [_TYPED.sub(lambda found: code(found[0]), each) for each in parts[::2]]
    return "`".join(parts)


def _kind(hint: Any) -> str:
    match get_origin(hint):
        case origin if origin is Literal:
            return ", ".join(code(str(each)) for each in get_args(hint))
        case origin if origin in {Union, UnionType}:
            kinds = (_kind(each) for each in get_args(hint) if each is not NoneType)
            return " or ".join(dict.fromkeys(kinds))
        case origin if origin in {list, tuple}:
            return f"{_kind(get_args(hint)[0])}, several"
        case _:
            return _WORDS.get(hint, "text")


def _default(argument: Any) -> str:
    if argument.required:
        return "**required**"
    value = argument.field_info.default
    if isinstance(value, bool):
        return "on" if value else NOTHING
    return code(str(value)) if isinstance(value, float | str | int) and value else NOTHING


def _summary(command: App) -> str:
    return paragraphs(command.help).partition("\n")[0]


def _text(docstring: str) -> Iterator[str]:
    """Yield the paragraphs of a docstring; an example is a block."""
    for each in filter(None, paragraphs(docstring).split("\n\n")):
        is_example = each.startswith(_EXAMPLE)
        yield f"```sh\n{each.removeprefix(_EXAMPLE)}\n```" if is_example else _marked(each)
