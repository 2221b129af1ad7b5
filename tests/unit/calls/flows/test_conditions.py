"""Conditions: a closed form over what a call knows; numbers as numbers, all else as text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.calls.flows.conditions import holds
from wire.flow import Case, Operator

SCALARS = some.one_of(some.none(), some.booleans(), some.integers(), some.floats(), some.text())
NUMBERS = some.integers(-(10**30), 10**30)
OPERATORS: tuple[Operator, ...] = ("eq", "ne", "lt", "gt", "contains", "startsWith", "exists")


def case(operator: Operator, value: Any = None) -> Case:
    """Make a case."""
    return Case("vars.x", "next", operator, value)


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
    ],
)
def test_what_holds(given_: Any, operator: Operator, value: Any) -> None:
    """As people would say."""
    assert holds(case(operator, value), given_)


@pytest.mark.parametrize(
    ("given_", "operator", "value"),
    [
        ("gold", "eq", "Gold"),
        ("b", "gt", "a"),
        (None, "lt", 1),
        ("", "exists", None),
        (None, "exists", None),
        ("inf", "gt", 1),
        (True, "gt", 0),
        (" 3", "eq", 3),
    ],
)
def test_what_does_not_hold(given_: Any, operator: Operator, value: Any) -> None:
    """Order is for numbers only, and what is empty is not there."""
    assert not holds(case(operator, value), given_)


@given(some.sampled_from(OPERATORS), SCALARS, SCALARS)
def test_every_comparison_has_an_answer(operator: Operator, value: Any, known: Any) -> None:
    """Whatever is compared with whatever: yes or no."""
    assert holds(case(operator, value), known) in {True, False}


@given(SCALARS, SCALARS)
def test_ne_is_not_eq(value: Any, known: Any) -> None:
    """One of the two always holds, and never both."""
    assert holds(case("eq", value), known) != holds(case("ne", value), known)


@given(NUMBERS, NUMBERS)
def test_order_is_that_of_numbers(first: int, second: int) -> None:
    """Also of numbers that are written as text."""
    assert holds(case("lt", str(second)), first) == (float(first) < float(second))
