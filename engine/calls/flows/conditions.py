"""Evaluates the cases of flow conditions with fixed operators, without `eval`."""

from engine.calls.flows.templates import to_text
from wire.flow import ConditionCase

MAX_NUMBER_CHARS = 40


def holds(case: ConditionCase, value: object) -> bool:
    """Return whether a case holds for a variable's value, which is None when it is not set.

    Numbers are compared as numbers, also where they are written as text; all else as text.
    """
    text, operand = to_text(value), to_text(case.value)
    match case.operator:
        case "exists":
            return text != ""
        case "eq":
            return _is_equal(value, case.value)
        case "ne":
            return not _is_equal(value, case.value)
        case "lt" | "gt":
            return _is_less_or_greater(value, case)
        case "contains":
            return operand in text
        case "startsWith":
            return text.startswith(operand)


def _is_equal(value: object, operand: object) -> bool:
    numbers = _number(value), _number(operand)
    return numbers[0] == numbers[1] if None not in numbers else to_text(value) == to_text(operand)


def _is_less_or_greater(value: object, case: ConditionCase) -> bool:
    number, operand = _number(value), _number(case.value)
    if number is None or operand is None:
        return False
    return number < operand if case.operator == "lt" else number > operand


def _number(value: object) -> float | None:
    """Parse a number; None for what only Python accepts as one: 1_000, nan, inf."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str) and not _is_plain(value):
        return None
    return float(value)


def _is_plain(text: str) -> bool:
    number = text.removeprefix("-")
    whole, _, fraction = number.partition(".")
    digits = whole + fraction
    is_short = len(number) < MAX_NUMBER_CHARS
    return digits.isascii() and digits.isdecimal() and is_short and whole != ""
