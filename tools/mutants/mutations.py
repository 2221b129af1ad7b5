"""All mutants of a module: each replaces one statement or expression of its syntax tree."""

import ast
from collections.abc import Iterator

from msgspec import Struct

SWAPPED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
}
DELETED = (ast.AugAssign, ast.Raise, ast.Continue, ast.Delete)
DOCUMENTATION = {"title", "description", "summary", "examples", "example", "help", "responses"}
LOGGERS = {"log", "_log", "event_log", "logger"}
UNTOUCHED_NAMES = {"__all__", "__slots__"}
# Their arguments may be swapped.
SYMMETRIC = {"max", "min", "and_", "or_", "where", "compare_digest", "suppress"}
MAX_TEXT = 160
MAX_COUNTED = 10  # larger numbers are limits and amounts
UNCHANGED = -1  # instead of a mutant's index


class Mutant(Struct, frozen=True):
    """One change of a module; `index` counts the module's mutants."""

    path: str
    index: int
    line: int
    column: int
    operator: str
    before: str
    after: str


class Place(Struct, frozen=True):
    """Where a node is in its tree: a field of its owner, and an index if that is a list."""

    owner: ast.AST
    field: str
    index: int | None = None

    def put(self, node: ast.AST) -> None:
        """Replace the node."""
        if self.index is None:
            setattr(self.owner, self.field, node)
        else:
            getattr(self.owner, self.field)[self.index] = node


class Change(Struct, frozen=True):
    """A replacement of a node."""

    operator: str
    place: Place
    node: ast.stmt | ast.expr
    replacement: ast.stmt | ast.expr
    text: str = ""  # what is changed, if that is not the whole node


def mutants_of(path: str, source: str) -> list[Mutant]:
    """List the mutants of a module."""
    return [
        Mutant(
            path,
            index,
            each.node.lineno,
            each.node.col_offset,
            each.operator,
            each.text or _text(each.node),
            "" if each.text else _text(each.replacement),
        )
        for index, each in enumerate(_changes(ast.parse(source)))
    ]


def mutate(source: str, index: int) -> ast.Module:
    """Return the tree of a module's mutant; UNCHANGED returns the module's own."""
    tree = ast.parse(source)
    if index == UNCHANGED:
        return tree
    change = list(_changes(tree))[index]
    change.place.put(ast.copy_location(change.replacement, change.node))
    return ast.fix_missing_locations(tree)


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:MAX_TEXT]


def _changes(tree: ast.Module) -> Iterator[Change]:
    yield from _in_fields(tree)


def _in_fields(owner: ast.AST, *fields: str) -> Iterator[Change]:
    """Find changes below a node, or below some of its fields."""
    for field in fields or owner._fields:
        value = getattr(owner, field)
        nodes = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, node in nodes:
            if isinstance(node, ast.stmt):
                yield from _of_statement(Place(owner, field, index), node)
            elif isinstance(node, ast.expr):
                yield from _of_expression(Place(owner, field, index), node)
            elif isinstance(node, ast.ExceptHandler | ast.withitem | ast.comprehension):
                yield from _in_fields(node)
            elif isinstance(node, ast.keyword):
                yield from _in_fields(node, *(["value"] if node.arg not in DOCUMENTATION else []))
            elif isinstance(node, ast.match_case):
                yield from _in_fields(node, "guard", "body")


def _of_statement(place: Place, node: ast.stmt) -> Iterator[Change]:
    if _is_untouched(node):
        return
    if isinstance(node, ast.Return) and not _returns_nothing(node):
        yield Change("return None", place, node, ast.Return(ast.Constant(None)))
    if _is_deletable(node):
        yield Change("delete statement", place, node, ast.Pass())
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _in_fields(node.args, "defaults", "kw_defaults")
            yield from _in_fields(node, "body")
        case ast.ClassDef():
            yield from _in_fields(node, "body")
        case ast.AnnAssign():
            yield from _in_fields(node, "value")
        case ast.Match():
            yield from _in_fields(node, "subject", "cases")
        case ast.If() | ast.While():
            yield _negation(node)
            yield from _in_fields(node)
        case _:
            yield from _in_fields(node)


def _of_expression(place: Place, node: ast.expr) -> Iterator[Change]:
    match node:
        case ast.JoinedStr():
            return
        case ast.Compare():
            yield from _comparisons(place, node)
        case ast.BoolOp():
            yield from _logic(place, node)
        case ast.IfExp():
            yield _negation(node)
        case ast.Constant():
            yield from _constants(place, node)
        case ast.BinOp(left, operator, right) if type(operator) in ARITHMETIC:
            swapped = ast.BinOp(left, ARITHMETIC[type(operator)](), right)
            yield Change("arithmetic", place, node, swapped)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield Change("drop not", place, node, operand)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield Change("drop minus", place, node, operand)
            return  # a number and its sign are one constant
        case ast.Call():
            yield from _arguments(place, node)
        case _:
            pass
    yield from _in_fields(node)


def _comparisons(place: Place, node: ast.Compare) -> Iterator[Change]:
    for at, operator in enumerate(node.ops):
        for swapped in SWAPPED[type(operator)]:
            ops = [*node.ops[:at], swapped(), *node.ops[at + 1 :]]
            yield Change("comparison", place, node, ast.Compare(node.left, ops, node.comparators))


def _logic(place: Place, node: ast.BoolOp) -> Iterator[Change]:
    swapped = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield Change("and/or", place, node, ast.BoolOp(swapped, node.values))
    for at in range(len(node.values)):
        rest = [*node.values[:at], *node.values[at + 1 :]]
        fewer = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        yield Change("drop operand", place, node, fewer)


def _constants(place: Place, node: ast.Constant) -> Iterator[Change]:
    if isinstance(node.value, bool):
        yield Change("flip bool", place, node, ast.Constant(not node.value))
    elif isinstance(node.value, int | float):
        for changed in _other_numbers(node.value):
            yield Change("constant", place, node, ast.Constant(changed))


def _other_numbers(value: float) -> tuple[float, float]:
    """Return two wrong values: a limit of seconds that is off by a millisecond is not a fault."""
    if value <= MAX_COUNTED:
        return value + 1, value - 1
    return value * 2, (value // 2 if isinstance(value, int) else value / 2)


def _documents(function: ast.expr, argument: str) -> bool:
    """Return whether an argument documents, or asserts what holds: that lists are of one length."""
    is_assertion = argument == "strict" and isinstance(function, ast.Name) and function.id == "zip"
    return is_assertion or argument in DOCUMENTATION


def _arguments(place: Place, node: ast.Call) -> Iterator[Change]:
    for at, keyword in enumerate(node.keywords):
        if keyword.arg is not None and not _documents(node.func, keyword.arg):
            rest = [*node.keywords[:at], *node.keywords[at + 1 :]]
            text = f"{_text(node.func)}(…, {_text(keyword)})"
            fewer = ast.Call(node.func, node.args, rest)
            yield Change("drop keyword", place, node, fewer, text)
    if ast.unparse(node.func).rpartition(".")[2] in SYMMETRIC:
        return
    match node.args:
        case [first, second, *others] if not isinstance(first, ast.Starred):
            if not isinstance(second, ast.Starred) and ast.dump(first) != ast.dump(second):
                swapped = ast.Call(node.func, [second, first, *others], node.keywords)
                yield Change("swap arguments", place, node, swapped)


def _negation(node: ast.If | ast.While | ast.IfExp) -> Change:
    return Change(
        "negate condition", Place(node, "test"), node.test, ast.UnaryOp(ast.Not(), node.test)
    )


def _is_untouched(node: ast.stmt) -> bool:
    """Whether a statement only documents, narrows a type, imports or writes a log line."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Global() | ast.Nonlocal():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call() as call):
            return _is_logging(call)
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in UNTOUCHED_NAMES
        case _:
            return False


def _is_deletable(node: ast.stmt) -> bool:
    """Whether a deletion is not trivially noticed, as that of a name's only assignment is."""
    match node:
        case ast.Expr():
            return True
        case ast.Assign(targets=targets):
            return all(isinstance(each, ast.Attribute | ast.Subscript) for each in targets)
        case _:
            return isinstance(node, DELETED)


def _is_logging(call: ast.Call) -> bool:
    """Whether a call writes a log line: `log.info(...)`, `self._log.warning(...)`."""
    match call.func:
        case ast.Attribute(value=ast.Name(id=name)):
            return name in LOGGERS
        case ast.Attribute(value=ast.Attribute(attr=name)):
            return name in LOGGERS
        case _:
            return False


def _returns_nothing(node: ast.Return) -> bool:
    """Return whether it returns None, or False, which for every condition is the same."""
    if not isinstance(node.value, ast.Constant):
        return node.value is None
    return node.value.value is None or node.value.value is False
