"""Writes the list of log events into docs/operations/logs.md, from the calls in the source.

`python -m tools.docs.log_events` (`make docs`) writes between the markers of the page.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/operations/logs.md"
PROGRAMS = {
    "engine": "engine",
    "api": "REST layer",
    "streams": "gateway",
    "speech": "recognizers",
    "wire": "both",
    "base": "both",
}
LEVELS = ("error", "warning", "info", "debug")
LOGGERS = {"log", "_log", "event_log"}
AS_ERROR = {"exception", "critical"}  # `exception` adds a traceback
# Where a name is passed to what writes the line: file, and level and events.
COMPUTED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "api/audit/trail.py": (
        "error",
        (
            "audit entry refused",
            "audit trail not written",
        ),
    ),
    "api/http/request_middleware.py": ("info", ("request",)),
}
_BLOCK = re.compile(r"(<!-- listed: log events -->\n).*?(<!-- end -->)", re.DOTALL)


class Use(Struct, frozen=True):
    """One call that writes a line."""

    event: str
    level: str
    fields: frozenset[str]
    program: str


def uses(root: Path) -> Iterator[Use]:
    """Yield all calls; raises ValueError for an event whose name is not in the source."""
    for folder, program in PROGRAMS.items():
        for path in sorted((root / folder).rglob("*.py")):
            yield from _uses_of_file(path, path.relative_to(root).as_posix(), program)


def _uses_of_file(path: Path, name: str, program: str) -> Iterator[Use]:
    tree = ast.parse(path.read_text())
    level, events = COMPUTED.get(name, ("", ()))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for event in events:
        named = [each for each in calls if _is_about(each, event)]
        if not named:
            raise ValueError(f"{name}: {event} is not there")
        fields = frozenset(word.arg for each in named for word in each.keywords if word.arg)
        yield Use(event, level, fields, program)
    for node in calls:
        match node:
            case ast.Call(func=ast.Attribute(value=receiver, attr=attribute), args=[first, *_]) if (
                _name(receiver) in LOGGERS
                and attribute in {*LEVELS, *AS_ERROR}
                and not (events and isinstance(first, ast.Name))
            ):
                level = "error" if attribute in AS_ERROR else attribute
                fields = frozenset(each.arg for each in node.keywords if each.arg) - {"exc_info"}
                for event in _texts(first, f"{name}:{node.lineno}"):
                    yield Use(event, level, fields, program)


def _name(receiver: ast.expr) -> str:
    match receiver:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _is_about(call: ast.Call, event: str) -> bool:
    return (
        bool(call.args) and isinstance(call.args[0], ast.Constant) and call.args[0].value == event
    )


def _texts(node: ast.expr, where: str) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=one, orelse=other):
            yield from _texts(one, where)
            yield from _texts(other, where)
        case _:
            raise ValueError(f"{where}: the name of a log event is a constant")


def table(root: Path) -> str:
    """Return the events by name, with the most severe level first."""
    found = defaultdict[str, list[Use]](list)
    for use in uses(root):
        found[use.event].append(use)
    rows = ["| event | level | program | fields |\n", "|---|---|---|---|\n"]
    for event, calls in sorted(found.items()):
        levels = [each for each in LEVELS if each in {use.level for use in calls}]
        programs = sorted({use.program for use in calls})
        fields = sorted(frozenset().union(*(use.fields for use in calls)))
        named = ", ".join(f"`{each}`" for each in fields)
        rows.append(f"| `{event}` | {', '.join(levels)} | {', '.join(programs)} | {named} |\n")
    return "".join(rows)


def filled(text: str, root: Path) -> str:
    """Return the page with its list."""
    return _BLOCK.sub(lambda found: f"{found[1]}\n{table(root)}\n{found[2]}", text)


def main() -> None:
    """Write the page."""
    PAGE.write_text(filled(PAGE.read_text(), ROOT))


if __name__ == "__main__":
    main()
