"""Places that branch on a state, verb, flow node or command name each member of its union.

mypy reports a `match` that omits a member (`exhaustive-match`), unless a wildcard hides it. Events
are exempt: a state ignores most of them. Tables have tests in `test_exhaustive.py`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from engine.calls.model.call_states import CallState
from engine.calls.model.commands import Command
from wire.flow import ControlNode, VerbNode
from wire.verbs import Verb

ROOT = Path(__file__).parents[4]
UNIONS = tuple(
    frozenset(f"{each.__module__}.{each.__name__}" for each in get_args(union))
    for union in (CallState, Verb, VerbNode | ControlNode, Command)
)
# These places omit members on purpose.
EXEMPT = {
    "engine/calls/recovery/pending_commands.py:_is_still_needed": "others always run again",
    "engine/calls/sessions/preconditions.py:_check_answered": "test_exhaustive.py: test_dial",
    "engine/calls/step.py:BEFORE_MEDIA": "only these stop a prompt or a voicemail",
    "engine/calls/verbs/flow.py:_instead": "others are only skipped",
    "engine/calls/verbs/screening.py:STARTS": "test_exhaustive.py: test_rows_of_a_single_leg",
    "engine/calls/verbs/screening.py:STATES": "test_exhaustive.py: test_rows_of_a_single_leg",
    "engine/runtime/pbx/ari_requests.py:event_from_reply": "an ARI event follows other commands",
    "engine/runtime/pbx/ari_requests.py:is_pipelined": "the requests of others wait for replies",
    "engine/runtime/pbx/ari_requests.py:may_follow_at_once": "others wait for their reply",
    "engine/runtime/pbx/ari_requests.py:may_block": "Asterisk answers others at once",
    "engine/runtime/shard/step_runner.py:_cached_result": "only audio and nodes are cached",
    "engine/runtime/shard/step_runner.py:StepRunner": "others may run twice",
    "wire/tree.py:_verb_errors": "test_fields_of_verbs.py: others have no rules of their own",
    "wire/verbs.py:SINGLE_LEG_VERBS": "test_exhaustive.py: test_verbs_of_a_single_leg",
}


class Source:
    """A module, and what its names stand for."""

    def __init__(self, path: Path) -> None:
        self.place = path.relative_to(ROOT).as_posix()
        self.tree = ast.parse(path.read_text())
        module = self.place.removesuffix(".py").replace("/", ".")
        self._names: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                for each in node.names:
                    self._names[each.asname or each.name] = f"{node.module}.{each.name}"
            elif isinstance(node, ast.ClassDef):
                self._names[node.name] = f"{module}.{node.name}"

    def classes(self, nodes: list[ast.expr]) -> set[str]:
        """Return the full names of these expressions."""
        return {self._full_name(ast.unparse(each)) for each in nodes}

    def _full_name(self, text: str) -> str:
        root, dot, rest = text.partition(".")
        return self._names.get(root, root) + dot + rest

    def gaps(self) -> Iterator[str]:
        """Yield the places that may omit a member of a union."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Match):
                patterns = [each for case in node.cases for each in ast.walk(case.pattern)]
                named = [each.cls for each in patterns if isinstance(each, ast.MatchClass)]
                is_gap = _hides_members(node) and _common(self.classes(named)) > 0
            else:
                is_gap = _omits_members(self.classes(_items(node)))
            if is_gap:
                yield f"{self.place}:{self._owner(node)}"

    def _owner(self, node: ast.AST) -> str:
        """Return the function or the constant that a node is in."""
        for each in self.tree.body:
            if any(inner is node for inner in ast.walk(each)):
                match each:
                    case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                        return name
                    case ast.Assign(targets=[ast.Name(id=name)]):
                        return name
                    case ast.AnnAssign(target=ast.Name(id=name)):
                        return name
        return "?"


def _common(found: set[str]) -> int:
    """Return how many of these classes are members of one union."""
    return max(len(found & union) for union in UNIONS)


def _omits_members(found: set[str]) -> bool:
    """Return whether these classes are several members of one union, but not all."""
    return any(1 < len(found & union) < len(union) for union in UNIONS)


def _hides_members(match: ast.Match) -> bool:
    """Return whether a wildcard neither passes the value on, with its narrow type, nor raises."""
    last = match.cases[-1]
    pattern = last.pattern
    if not isinstance(pattern, ast.MatchAs) or pattern.pattern is not None or last.guard:
        return False
    passed = {pattern.name, ast.unparse(match.subject)}
    body = [each for line in last.body for each in ast.walk(line)]
    raises = any(isinstance(each, ast.Raise) for each in body)
    return not raises and not passed & set(map(ast.unparse, _passed_on(body)))


def _passed_on(body: list[ast.AST]) -> Iterator[ast.expr]:
    """Yield what is passed to functions, or returned, as a whole; every member may have a field."""
    for each in body:
        if isinstance(each, ast.Call):
            yield from (*each.args, *(keyword.value for keyword in each.keywords))
        elif isinstance(each, ast.Return) and isinstance(each.value, ast.IfExp):
            yield from (each.value.body, each.value.orelse)
        elif isinstance(each, ast.Return) and each.value is not None:
            yield each.value


def _items(node: ast.AST) -> list[ast.expr]:
    """Return the items of a list of names, the keys of a table, or the types of `isinstance`."""
    match node:
        case ast.Tuple(elts=items) | ast.Set(elts=items) | ast.List(elts=items):
            found = items
        case ast.Dict(keys=keys):
            found = [each for each in keys if each is not None]
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.BinOp() as union]):
            found = [each for each in ast.walk(union) if isinstance(each, ast.expr)]
        case _:
            found = []
    return [each for each in found if isinstance(each, (ast.Name, ast.Attribute))]


def _sources() -> Iterator[Path]:
    """Yield the files that name a member of a union."""
    names = {each.rpartition(".")[2] for union in UNIONS for each in union}
    named = re.compile(rf"\b(?:{'|'.join(names)})\b")
    for package in ("api", "base", "cli", "engine", "speech", "streams", "switchroom", "wire"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if "generated" not in path.parts and named.search(path.read_text()):
                yield path


def test_each_member_is_named() -> None:
    """A wildcard, or a list of types, lets a new member pass unnoticed."""
    gaps = {gap for path in _sources() for gap in Source(path).gaps()}
    assert gaps - set(EXEMPT) == set(), "name each member of the union"
    assert set(EXEMPT) - gaps == set(), "the exemption is no longer needed"
