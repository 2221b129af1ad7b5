"""One test of all items in a list."""

import pytest

from tests.harness.each import for_each


def check_is_even(number: int) -> None:
    assert number % 2 == 0, "odd"


def test_all_faults_are_reported() -> None:
    """With the names of their items; what one raises does not hide the next."""
    with pytest.raises(pytest.fail.Exception, match=r"2 of 3\n1: Assertion.*odd(.|\n)*3: .*odd"):
        for_each([1, 2, 3])(check_is_even)()
    for_each([2, 4])(check_is_even)()


def test_a_list_without_items_fails() -> None:
    """It would prove nothing."""
    with pytest.raises(pytest.fail.Exception):
        for_each(list[int]())(check_is_even)()
