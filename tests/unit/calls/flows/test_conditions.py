"""Conditions: fixed operators; numbers are compared as numbers, all else as text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.calls.flows.conditions import Compared, holds
from wire.flow import ConditionCase, Operator

SCALARS = some.one_of(some.none(), some.booleans(), some.integers(), some.floats(), some.text())
NUMBERS = some.integers(-(10**30), 10**30)
OPERATORS: tuple[Operator, ...] = ("eq", "ne", "lt", "gt", "contains", "startsWith", "exists")


def case(operator: Operator, value: Any = None) -> ConditionCase:
    """Return a case."""
    return ConditionCase("vars.x", "next", operator, value)


@pytest.mark.parametrize(
    ("given_", "operator", "value"),
    [
        ("gold", "eq", "gold"),
        (3, "eq", "3"),
        ("3.0", "eq", 3),
        (True, "eq", "true"),
        (None, "eq", ""),
        ("gold", "ne", "Gold"),
        ("10", "gt", 9),
        ("-1.5", "lt", "0"),
        ("+4721930000", "contains", "2193"),
        (4721930000, "startsWith", "47"),
        (0, "exists", None),
        (False, "exists", None),
        ("٣", "ne", 3),
        ("1_0", "ne", 10),
        ("nan", "eq", "nan"),
        (0.1, "eq", "0.1"),
        (1e22, "eq", "10000000000000000000000"),
        ("-0", "eq", "0.0"),
        ("0123", "ne", "123"),
        ("0123", "eq", 123),
        ("0123", "lt", "124"),
        ("0.5", "eq", "0.50"),
        ("707057500012345678", "ne", "707057500012345679"),
        (707057500012345678, "ne", 707057500012345679),
        ("707057500012345678", "lt", 707057500012345679),
        ("1e999999999", "eq", "1e999999999"),
        (float("inf"), "eq", float("inf")),
    ],
)
def test_cases_that_hold(given_: Any, operator: Operator, value: Any) -> None:
    """Numbers of any length are exact; a text with a leading 0 equals no other text."""
    assert holds(case(operator, value), Compared.of(given_))


@pytest.mark.parametrize(
    ("given_", "operator", "value"),
    [
        ("gold", "eq", "Gold"),
        (3, "eq", 4),
        ("b", "gt", "a"),
        ("10", "gt", 10),
        ("10", "lt", 10),
        (None, "lt", 1),
        ("", "exists", None),
        (None, "exists", None),
        ("inf", "gt", 1),
        (True, "gt", 0),
        (" 3", "eq", 3),
        ("1e999999999", "gt", 1),
        pytest.param("9" * 400, "gt", 1, id="400 digits"),
        (float("nan"), "lt", 1),
    ],
)
def test_cases_that_do_not_hold(given_: Any, operator: Operator, value: Any) -> None:
    """Only numbers have an order, and empty values are not set."""
    assert not holds(case(operator, value), Compared.of(given_))


@given(some.sampled_from(OPERATORS), SCALARS, SCALARS)
def test_every_comparison_has_a_result(operator: Operator, value: Any, known: Any) -> None:
    """Any value with any other: true or false."""
    assert holds(case(operator, value), Compared.of(known)) in {True, False}


@given(SCALARS, SCALARS)
def test_ne_is_not_eq(value: Any, known: Any) -> None:
    """Exactly one of the two holds."""
    assert holds(case("eq", value), Compared.of(known)) != holds(
        case("ne", value), Compared.of(known)
    )


@given(NUMBERS, NUMBERS)
def test_the_order_is_numeric(first: int, second: int) -> None:
    """Also of numbers that are written as text."""
    assert holds(case("lt", str(second)), Compared.of(first)) == (first < second)
