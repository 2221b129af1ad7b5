"""Whether a condition's case holds: a closed form, so that nothing that is typed can run."""

from engine.calls.flows.templates import to_text
from wire.flow import Case


def holds(case: Case, given: object) -> bool:
    """Tell whether a variable's value, None when it is not set, is as a case has it.

    Numbers are compared as numbers, also where they are written as text; all else as text.
    """
    said, wanted = to_text(given), to_text(case.value)
    match case.operator:
        case "exists":
            return said != ""
        case "eq":
            return _is_equal(given, case.value)
        case "ne":
            return not _is_equal(given, case.value)
        case "lt" | "gt":
            return _is_less_or_greater(given, case)
        case "contains":
            return wanted in said
        case "startsWith":
            return said.startswith(wanted)


def _is_equal(given: object, wanted: object) -> bool:
    numbers = _number(given), _number(wanted)
    return numbers[0] == numbers[1] if None not in numbers else to_text(given) == to_text(wanted)


def _is_less_or_greater(given: object, case: Case) -> bool:
    ours, theirs = _number(given), _number(case.value)
    if ours is None or theirs is None:
        return False
    return ours < theirs if case.operator == "lt" else ours > theirs


def _number(value: object) -> float | None:
    """Read a number; none in what only looks like one to Python: 1_000, nan, inf."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str) and not _is_plain(value):
        return None
    return float(value)


def _is_plain(written: str) -> bool:
    digits = written.removeprefix("-")
    whole, _, part = digits.partition(".")
    both = whole + part
    return both.isascii() and both.isdecimal() and len(digits) < 40 and whole != ""  # noqa: PLR2004 - longer is no number that anybody compares
