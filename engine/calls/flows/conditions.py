"""Evaluates the cases of flow conditions with fixed operators, without `eval`."""

from decimal import Decimal
from math import isfinite
from typing import Self

from msgspec import Struct

from engine.calls.flows.templates import to_text
from wire.flow import ConditionCase

MAX_NUMBER_CHARS = 40


class Compared(Struct, frozen=True):
    """A value as conditions compare it; made once, for all cases of a node."""

    text: str
    number: Decimal | None
    is_text: bool

    @classmethod
    def of(cls, value: object) -> Self:
        return cls(to_text(value), _number(value), isinstance(value, str))


def holds(case: ConditionCase, value: Compared) -> bool:
    """Return whether a case holds for a variable's value, which is None when it is not set.

    Numbers are compared as numbers, also where they are written as text; all else as text. For
    equality, so is a text with a leading 0 beside another text: it is a code, such as a PIN.
    """
    operand = Compared.of(case.value)
    match case.operator:
        case "exists":
            return value.text != ""
        case "eq":
            return _is_equal(value, operand)
        case "ne":
            return not _is_equal(value, operand)
        case "lt":
            return _is_less(value, operand)
        case "gt":
            return _is_less(operand, value)
        case "contains":
            return operand.text in value.text
        case "startsWith":
            return value.text.startswith(operand.text)


def _is_equal(value: Compared, operand: Compared) -> bool:
    if value.number is None or operand.number is None or _are_codes(value, operand):
        return value.text == operand.text
    return value.number == operand.number


def _is_less(value: Compared, other: Compared) -> bool:
    if value.number is None or other.number is None:
        return False
    return value.number < other.number


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


def _are_codes(value: Compared, operand: Compared) -> bool:
    """Return whether both are texts, and one has a 0 that a number would not begin with."""
    if not value.is_text or not operand.is_text:
        return False
    return any(each.text[:1] == "0" and each.text[1:2].isdigit() for each in (value, operand))
