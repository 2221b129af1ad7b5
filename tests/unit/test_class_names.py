"""Class names are not published: what is sent, stored, counted or matched on is a tag."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

from engine.calls.model.call_states import CallState
from engine.calls.model.commands import Command
from engine.calls.model.events import Event
from engine.calls.model.requests import CallRequest

ROOT = Path(__file__).parents[2]
PRODUCT = ("api", "base", "cli", "dev", "engine", "speech", "streams", "switchroom", "wire")
NAMES = {"__name__", "__qualname__", "__class__"}

# Some exceptions of libraries have no text: their class name is then part of a detail for people.
# No code decides by it.
ERRORS = {
    "api/audit/trail.py": "log: why the database refused",
    "api/cdrs/event_consumer.py": "log: why the database refused",
    "api/transcripts/recognizers.py": "log: how the connection failed",
    "engine/ami/client.py": "log: how the connection failed",
    "engine/ami/monitor.py": "log: how the connection failed",
    "engine/ari/reconnecting_websocket.py": "log: how the connection failed",
    "cli/errors.py": "terminal: how the engine could not be reached",
    "engine/store/redis/pool.py": "log: how the store failed",
    "engine/store/redis/script_connection.py": "log: how the connection failed",
    "streams/bots/socket.py": "report: how the connection to a bot failed",
    "streams/pbx.py": "report: how the connection to a PBX failed",
}
# Asterisk's names, as its interface description has them, are the tags.
ASTERISK = ("engine/ari/config.py", "engine/ari/generated/", "engine/ari/generator/")
TWIML = ("cli/convert/",)  # the elements of a TwiML document have such names


@cache
def _sources() -> dict[str, str]:
    """Return the texts of the product's files."""
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for package in PRODUCT
        for path in sorted((ROOT / package).rglob("*.py"))
    }


def _nodes(mention: re.Pattern[str]) -> Iterator[tuple[str, ast.AST]]:
    """Yield the nodes of the files in whose text the pattern occurs."""
    for path, text in _sources().items():
        if mention.search(text):
            yield from ((path, node) for node in ast.walk(ast.parse(text)))


def _is_error_name(node: ast.Attribute) -> bool:
    return ast.unparse(node) == "type(error).__name__"


def test_no_class_name_is_read() -> None:
    """Except those of exceptions, in the listed files, each with its reason."""
    found = {
        (path, _is_error_name(node))
        for path, node in _nodes(re.compile("|".join(NAMES)))
        if isinstance(node, ast.Attribute) and node.attr in NAMES
    }
    assert not sorted(path for path, is_error_name in found if not is_error_name)
    assert sorted(path for path, _ in found) == sorted(ERRORS)


def test_no_tag_is_a_class_name() -> None:
    """`tag=True` publishes the class's name."""
    assert not [
        f"{path}:{node.lineno}"
        for path, node in _nodes(re.compile(r"\btag\s*=\s*True"))
        if not path.startswith(ASTERISK) and isinstance(node, ast.ClassDef)
        for each in node.keywords
        if each.arg == "tag" and ast.unparse(each.value) == "True"
    ]


def _class_names(union: Any) -> Iterator[str]:
    for each in get_args(union):
        yield from [each.__name__] if isinstance(each, type) else _class_names(each)


def test_no_text_is_a_class_name() -> None:
    """Neither the command line nor other code matches on one."""
    names = {
        name for union in (Event, Command, CallState, CallRequest) for name in _class_names(union)
    }
    assert not [
        f"{path}:{node.lineno}: {node.value}"
        for path, node in _nodes(re.compile(f"""["'](?:{"|".join(names)})["']"""))
        if not path.startswith((*ASTERISK, *TWIML))
        if isinstance(node, ast.Constant) and node.value in names
    ]
