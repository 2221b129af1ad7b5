"""Every error code that the source can produce, read from its syntax trees."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("wire", "base", "engine", "api", "cli", "streams", "dev")

# Where a call has its code: the place of the argument, or its name. The first prefix that fits a
# file decides, as classes of some packages have the same names.
_PLACES: dict[str, tuple[tuple[str, int], ...]] = {
    "BadInput": (("", 2),),
    "FieldError": (("", 2),),
    "Problem": (("", 2),),
    "problem_response": (("api/", 1),),
    "InvalidRequest": (("api/", 1),),
    "Unauthenticated": (("api/", 1),),
    "Forbidden": (("api/", 1),),
    "NotFound": (("api/", 1),),
    "Conflict": (("api/", 1), ("engine/", 1)),
    "PreconditionFailed": (("api/", 1),),
    "TooManyRequests": (("api/", 1),),
    "ServiceUnavailable": (("api/", 1),),
    "AccountConcurrency": (("api/", 0),),
    "LimitedSlots": (("api/", 0),),
    "Rejection": (("engine/", 1),),
    "_missing": (("engine/", 0),),
    "_conflict": (("engine/", 0),),
    "NoCapacity": (("engine/", 0),),
    "Unavailable": (("engine/runtime/", 0),),
    "LimitReached": (("engine/", 0),),
    "AccountQueue": (("engine/", 0),),
    "_reject": (("engine/runtime/admission/", 2),),
    "_refuse": (("engine/runtime/admission/", 2),),
    "DialDecision": (("engine/", 0),),
    "MediaError": (("engine/", 0),),
    "MediaFault": (("engine/", 1),),
    "AttemptFailed": (("engine/", 0),),
    "WebhookFailed": (("engine/", 0),),
    "Failed": (("engine/callbacks/", 0),),
    "_failed": (("engine/callbacks/", 3),),
    "ApiRequestFailed": (("engine/", 1),),
    "fail_request": (("engine/calls/verbs/flow.py", 1),),
    "ActionFailed": (("engine/runtime/io/command_runner.py", 1),),
    "coded_problem": (("", 1),),
    "ConversationEnd": (("engine/", 3),),
    "RangeNotSatisfiable": (("api/", 1),),
    "_fail": (("engine/calls/verbs/play.py", 2), ("base/program.py", 1)),
    "fail": (("cli/", 1),),
    "_abort": (("engine/", 1),),
    "failure": (("cli/doctor/", 0),),
    "warning": (("cli/doctor/", 0),),
}
_KEYWORDS = {"code", "give_up_reason"}


class Raised(NamedTuple):
    """A code, and where the source has it."""

    code: str
    place: str
    by: str  # the class or function that gets it


@cache
def raised_codes() -> tuple[Raised, ...]:
    """Read all codes in the source."""
    paths = (path for each in PACKAGES for path in sorted((ROOT / each).rglob("*.py")))
    return tuple(code for path in paths for code in _in_file(path))


def _in_file(path: Path) -> Iterator[Raised]:
    name = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(path.read_text())):
        place = f"{name}:{getattr(node, 'lineno', 0)}"
        match node:
            case ast.Call():
                by = _name(node)
                yield from (Raised(each, place, by) for each in _of_call(node, name))
            case ast.ClassDef(body=body):
                yield from (Raised(each, place, "") for each in _of_class(body))
            case _:
                pass


def _of_call(call: ast.Call, file: str) -> Iterator[str]:
    name = _name(call)
    index = next((at for prefix, at in _PLACES.get(name, ()) if file.startswith(prefix)), None)
    if index is not None and len(call.args) > index:
        yield from _texts(call.args[index])
    for each in call.keywords:
        if each.arg in _KEYWORDS or (each.arg == "reason" and _changes_call(call, name)):
            yield from _texts(each.value)


def _name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _changes_call(call: ast.Call, name: str) -> bool:
    """Return whether this is `replace(call, …)`, whose reason is that of the call's end."""
    first = call.args[0] if call.args else None
    return name == "replace" and isinstance(first, ast.Name) and first.id == "call"


def _of_class(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="code")], value=value):
                yield from _texts(value)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for each, value in zip(names, values, strict=True):
                    if isinstance(each, ast.Name) and each.id == "code":
                        yield from _texts(value)
            case _:
                pass


def _texts(value: ast.expr) -> Iterator[str]:
    match value:
        case ast.Constant(value=str(text)) if text:
            yield text
        case ast.IfExp(body=first, orelse=second):
            yield from _texts(first)
            yield from _texts(second)
        case ast.BoolOp(values=values):
            for each in values:
                yield from _texts(each)
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            yield f"{text}*"
        case _:
            pass
