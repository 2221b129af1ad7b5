"""How tests wait: until a condition holds, with one limit, and never for time to pass."""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.harness.until import MAX_WAIT_S

TESTS = Path(__file__).parents[2]
WAITING = ("live", "contract", "security")
CLOCKS = {"now_ms", "monotonic", "monotonic_ns", "perf_counter", "time", "time_ns"}
MOMENTS = {"at_ms", "down_ms", "end_ms", "start_ms", "up_ms"}  # fields: times of this machine
LIMITS = {"timeout", "timeout_s", "within_s"}
LIMIT_WORDS = re.compile(r"timeout|within_s|_S\b")  # of modules that may limit a wait
Finder = Callable[[ast.AST], Iterator[ast.AST]]
WAITS = ("expect_", "until", "wait")  # beginnings of names of functions that wait


def short_limits(code: ast.AST, constants: Mapping[str, float]) -> Iterator[ast.AST]:
    """Find limits of waits that are shorter than the one of all tests."""
    for call in _calls(code):
        name = _name(call.func)
        if name.startswith(WAITS):
            limits = [each.value for each in call.keywords if each.arg in LIMITS]
            limits += [each for each in call.args if _is_in_seconds(each)]
        elif _is_of_asyncio(call, "timeout"):
            limits = [*call.args, *(each.value for each in call.keywords)]
        elif _is_of_asyncio(call, "timeout_at"):
            yield call
            continue
        else:
            continue
        values = (_value(each, constants) for each in limits)
        if any(each is not None and 0 < each < MAX_WAIT_S for each in values):
            yield call


def limits_of_elapsed_time(code: ast.AST) -> Iterator[ast.AST]:
    """Find assertions that a time of the host's clock is short."""
    for function in _functions(code):
        clocked, elapsed = _clocked_names(function)
        for check in (each for each in ast.walk(function) if isinstance(each, ast.Assert)):
            for less, more in _upper_bounds(check):
                if _is_elapsed(less, clocked, elapsed) and not _is_clocked(more, clocked):
                    yield check


def waits_with_timeout(code: ast.AST) -> Iterator[ast.AST]:
    """Find `asyncio.wait` with a timeout, which sleeps if the tasks are not done."""
    for call in _calls(code):
        timeouts = [each.value for each in call.keywords if each.arg == "timeout"]
        if _is_of_asyncio(call, "wait") and timeouts and _value(timeouts[0], {}) != 0:
            yield call


def sleeps(code: ast.AST) -> Iterator[ast.AST]:
    """Find sleeps, but for the turn of the loop that takes no time."""
    for call in _calls(code):
        is_sleep = ast.unparse(call.func) in {"asyncio.sleep", "time.sleep"}
        if is_sleep and [_value(each, {}) for each in call.args] != [0]:
            yield call


def waits_for_time(code: ast.AST) -> Iterator[ast.AST]:
    """Find conditions that read a clock."""
    functions = {each.name: each for each in _functions(code)}
    for call in _calls(code):
        if _name(call.func) == "until" and call.args:
            condition = call.args[0]
            read = functions.get(condition.id) if isinstance(condition, ast.Name) else condition
            if read is not None and any(_name(each.func) in CLOCKS for each in _calls(read)):
                yield call


def test_no_wait_is_shorter_than_the_common_limit() -> None:
    """It is a limit for hangs; what is slow is measured by benchmarks."""
    assert [
        fault
        for folder in WAITING
        for path in _modules(folder)
        if LIMIT_WORDS.search(path.read_text())
        for fault in _places(path, short_limits(_parsed(path), _constants(path)))
    ] == []


def test_no_live_test_limits_the_time_that_passed() -> None:
    """It depends on the host; tests assert orders of events, or times within the product."""
    assert _faults(limits_of_elapsed_time, "live") == []


def test_each_sleep_has_a_reason() -> None:
    """On its line: what a person, a peer or a network does there."""
    for folder in WAITING:
        for path in _modules(folder):
            text = path.read_text()
            if "sleep(" not in text:
                continue
            lines = text.splitlines()
            for line in (getattr(each, "lineno", 0) for each in sleeps(_parsed(path))):
                assert "  # " in lines[line - 1], f"{path}:{line}"


MENTIONS: dict[Finder, tuple[str, ...]] = {  # of modules that may have such a fault
    limits_of_elapsed_time: ("assert ",),
    waits_with_timeout: ("asyncio.wait(",),
    waits_for_time: tuple(f"{clock}(" for clock in CLOCKS),
}


@pytest.mark.parametrize("find", [waits_with_timeout, waits_for_time])
def test_no_test_waits_for_time_to_pass(find: Finder) -> None:
    assert _faults(find, *WAITING) == []


@pytest.mark.parametrize(
    "code",
    [
        "until(is_there, timeout_s=2)",
        "lab.wait_ended(call, SHORT_S)",
        "lab.wait_ended(call, timeout_s=SHORT_S * 2)",
        "bots.wait_for_bot(2, SHORT_S)",
        "asyncio.timeout(10)",
        "asyncio.timeout(delay=2)",
        "asyncio.timeout_at(loop.time() + 2)",
    ],
)
def test_a_short_limit_is_found(code: str) -> None:
    assert [*short_limits(ast.parse(code), {"SHORT_S": 2.0})]


@pytest.mark.parametrize(
    "code",
    [
        "until(is_there, every_s=0.01)",
        "lab.wait_ended(call, SHORT_S + MAX_WAIT_S)",
        "bots.wait_for_bot(2)",
        "lab.call(to=number, timeout=1)",
        "until(is_there, timeout_s=unknown)",
    ],
)
def test_other_limits_are_none(code: str) -> None:
    assert not [*short_limits(ast.parse(code), {"SHORT_S": 2.0, "MAX_WAIT_S": MAX_WAIT_S})]


@pytest.mark.parametrize(
    "code",
    [
        "assert now_ms() - began < 100",
        "began = loop.time()\n    assert 1 < loop.time() - began < 2",
        "took = time.monotonic() - began\n    assert took < LIMIT",
        "assert result.at_ms - press.up_ms < 100",
        "assert LIMIT > span.end_ms - now",
        "assert all(each.end_ms - now < LIMIT for each in found)",
    ],
)
def test_a_limit_of_elapsed_time_is_found(code: str) -> None:
    assert [*limits_of_elapsed_time(ast.parse(f"def test() -> None:\n    {code}"))]


@pytest.mark.parametrize(
    "code",
    [
        "assert result.at_ms - press.up_ms > 100",
        "assert span.end_ms < result.at_ms",
        "since = now_ms()\n    assert heard_between(since, now_ms()) < 2",
        "assert span.start_ms < other.end_ms - EDGE_MS",
        "assert record['talkMs'] - record['ringMs'] < 100",
    ],
)
def test_orders_and_lower_bounds_are_none(code: str) -> None:
    assert not [*limits_of_elapsed_time(ast.parse(f"def test() -> None:\n    {code}"))]


@pytest.mark.parametrize(
    ("find", "code"),
    [
        (sleeps, "await asyncio.sleep(3)"),
        (sleeps, "time.sleep(LONG_S)"),
        (waits_with_timeout, "await asyncio.wait({task}, timeout=0.5)"),
        (waits_for_time, "await until(lambda: now_ms() - began > 100)"),
        (waits_for_time, "def passed():\n    return time.monotonic() > end\nawait until(passed)"),
    ],
)
def test_a_wait_for_time_is_found(find: Finder, code: str) -> None:
    assert [*find(ast.parse(code, mode="exec"))]


@pytest.mark.parametrize(
    ("find", "code"),
    [
        (sleeps, "await asyncio.sleep(0)"),
        (waits_with_timeout, "await asyncio.wait({task})"),
        (waits_with_timeout, "await asyncio.wait({task}, timeout=0)"),
        (waits_for_time, "await until(lambda: bool(found), every_s=0.1)"),
    ],
)
def test_other_waits_are_none(find: Finder, code: str) -> None:
    assert not [*find(ast.parse(code, mode="exec"))]


def _faults(find: Finder, *folders: str) -> list[str]:
    paths = (path for folder in folders for path in _modules(folder))
    return [
        fault
        for path in paths
        if any(word in path.read_text() for word in MENTIONS[find])
        for fault in _places(path, find(_parsed(path)))
    ]


def _places(path: Path, found: Iterator[ast.AST]) -> Iterator[str]:
    for each in found:
        yield f"{path.relative_to(TESTS)}:{getattr(each, 'lineno', 0)}: {ast.unparse(each)}"


def _modules(folder: str) -> list[Path]:
    return sorted((TESTS / folder).rglob("*.py"))


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def _constants(path: Path) -> dict[str, float]:
    """Return the numbers of a module, and those that it imports from tests, by name."""
    found: dict[str, float] = {"MAX_WAIT_S": MAX_WAIT_S}
    for each in _parsed(path).body:
        if isinstance(each, ast.ImportFrom) and (each.module or "").startswith("tests."):
            source = TESTS.parent / f"{(each.module or '').replace('.', '/')}.py"
            if source.exists():
                numbers = _constants(source)
                found |= {n.name: numbers[n.name] for n in each.names if n.name in numbers}
        elif isinstance(each, ast.Assign | ast.AnnAssign):
            for name, value in _assigned(each):
                number = _value(value, found)
                if number is not None:
                    found[name] = number
    return found


def _assigned(statement: ast.Assign | ast.AnnAssign) -> Iterator[tuple[str, ast.expr]]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        if statement.value is None:
            continue
        if isinstance(target, ast.Name):
            yield target.id, statement.value
        elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            for name, value in zip(target.elts, statement.value.elts, strict=True):
                yield ast.unparse(name), value


def _value(node: ast.expr, constants: Mapping[str, float]) -> float | None:
    """Return the number that an expression of constants has."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return constants.get(name)
        case ast.BinOp(left=left, op=kind, right=right):
            numbers = _value(left, constants), _value(right, constants)
            if numbers[0] is None or numbers[1] is None:
                return None
            return _OPERATORS[type(kind)](numbers[0], numbers[1])
        case _:
            return None


_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.Mod: operator.mod,
}


def _is_in_seconds(node: ast.expr) -> bool:
    names = (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
    return any(name.endswith("_S") for name in names)


def _clocked_names(function: ast.AST) -> tuple[set[str], set[str]]:
    """Return the names of moments of the host's clock, and those of times between two of them."""
    moments: set[str] = set()
    elapsed: set[str] = set()
    for each in ast.walk(function):
        if isinstance(each, ast.Assign) and _is_clocked(each.value, moments):
            names = {n.id for t in each.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            moments |= names
            if _is_elapsed(each.value, moments, elapsed):
                elapsed |= names
    return moments, elapsed


def _is_clocked(node: ast.AST, names: set[str]) -> bool:
    return any(
        (isinstance(each, ast.Name) and each.id in names)
        or (isinstance(each, ast.Attribute) and each.attr in MOMENTS)
        or (isinstance(each, ast.Call) and _name(each.func) in CLOCKS)
        for each in ast.walk(node)
    )


def _is_elapsed(node: ast.AST, moments: set[str], elapsed: set[str]) -> bool:
    return any(
        (
            isinstance(each, ast.BinOp)
            and isinstance(each.op, ast.Sub)
            and _is_clocked(each, moments)
        )
        or (isinstance(each, ast.Name) and each.id in elapsed)
        for each in ast.walk(node)
    )


def _upper_bounds(check: ast.Assert) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Return what an assertion bounds, with its bound."""
    for each in ast.walk(check.test):
        if isinstance(each, ast.Compare):
            sides = [each.left, *each.comparators]
            for left, kind, right in zip(sides, each.ops, sides[1:], strict=False):
                if isinstance(kind, ast.Lt | ast.LtE):
                    yield left, right
                elif isinstance(kind, ast.Gt | ast.GtE):
                    yield right, left


def _functions(code: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for each in ast.walk(code):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield each


def _calls(code: ast.AST) -> Iterator[ast.Call]:
    for each in ast.walk(code):
        if isinstance(each, ast.Call):
            yield each


def _is_of_asyncio(call: ast.Call, name: str) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id="asyncio"), attr=attribute):
            return attribute == name
        case _:
            return False


def _name(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
