"""The table of the Python SDK's functions that build verbs, in docs/sdk/python.md."""

import ast
from collections.abc import Iterator

from tools.docs.reference.markdown import code, table


def builders_table(source: str) -> str:
    """Return the functions of the module of verbs, each with its arguments and their defaults."""
    found = (each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef))
    rows = [
        (f"[{code(each.name)}](../reference/verbs/{each.name}.md)", ", ".join(_arguments(each)))
        for each in found
    ]
    return table(("function", "arguments"), rows)


def _arguments(function: ast.FunctionDef) -> Iterator[str]:
    given = function.args
    first = len(given.args) - len(given.defaults)
    for place, each in enumerate(given.args):
        yield _argument(each, given.defaults[place - first] if place >= first else None)
    for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _argument(each, default)


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    if default is None:
        return f"**{code(argument.arg)}**"
    value = ast.unparse(default)
    return code(argument.arg if value == "None" else f"{argument.arg}={value}")
