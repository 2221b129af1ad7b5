"""Evaluates the cases of flow conditions with fixed operators, without `eval`."""

from decimal import Decimal
from math import isfinite

from engine.calls.flows.templates import to_text
from wire.flow import ConditionCase

MAX_NUMBER_CHARS = 40


def holds(case: ConditionCase, value: object) -> bool:
    """Return whether a case holds for a variable's value, which is None when it is not set.

    Numbers are compared as numbers, also where they are written as text; all else as text. For
    equality, so is a text with a leading 0 beside another text: it is a code, such as a PIN.
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
    if None in numbers or _are_codes(value, operand):
        return to_text(value) == to_text(operand)
    return numbers[0] == numbers[1]


def _is_less_or_greater(value: object, case: ConditionCase) -> bool:
    number, operand = _number(value), _number(case.value)
    if number is None or operand is None:
        return False
    return number < operand if case.operator == "lt" else number > operand


def _number(value: object) -> Decimal | None:
    """Parse a number exactly; None for what only Python accepts as one: 1_000, nan, inf."""
    match value:
        case bool():
            return None
        case int():
            return Decimal(value)
        case float():
            # The shortest text that means this number: 0.1 is the one that a text says.
            return Decimal(repr(value)) if isfinite(value) else None
        case str():
            return Decimal(value) if _is_plain(value) else None
        case _:
            return None


def _is_plain(text: str) -> bool:
    number = text.removeprefix("-")
    whole, _, fraction = number.partition(".")
    digits = whole + fraction
    is_short = len(number) < MAX_NUMBER_CHARS
    return digits.isascii() and digits.isdecimal() and is_short and whole != ""


def _are_codes(value: object, operand: object) -> bool:
    """Return whether both are texts, and one has a 0 that a number would not begin with."""
    if not isinstance(value, str) or not isinstance(operand, str):
        return False
    return any(each[:1] == "0" and each[1:2].isdigit() for each in (value, operand))
