"""One test of all items in a list, which reports the faults of all of them."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

T = TypeVar("T")
Check = Callable[[T], None]


def for_each(
    items: Iterable[T] | Callable[[], Iterable[T]], name: Callable[[T], str] = str
) -> Callable[[Check[T]], Callable[[], None]]:
    """Make a check of one item a test of all; a list without items is a fault.

    Items that take long to find are what a function returns: the test calls it, not its import.
    """

    def decorate(check: Check[T]) -> Callable[[], None]:
        def test() -> None:
            all_items = items() if callable(items) else items
            found = [(name(item), _fault(check, item)) for item in all_items]
            faults = [f"{item}: {fault}" for item, fault in found if fault]
            if faults or not found:
                pytest.fail(f"{len(faults)} of {len(found)}\n" + "\n".join(faults), pytrace=False)

        test.__name__, test.__qualname__ = check.__name__, check.__qualname__
        test.__doc__, test.__module__ = check.__doc__, check.__module__
        return test

    return decorate


def _fault(check: Check[T], item: T) -> str:
    try:
        check(item)
    except Exception as error:  # noqa: BLE001 - whatever an item raises is its fault
        return f"{type(error).__name__}: {error}"
    return ""
