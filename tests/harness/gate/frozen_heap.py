"""Keeps what has been imported and made so far out of the collections of garbage in a test."""

import gc
from collections.abc import Iterator

import pytest


class FrozenHeap:
    """Freezes the heap between files: a full collection of a worker's heap stops it for a second.

    `_left_open` (`results.py`) looks at all of it at the end.
    """

    def pytest_collection_finish(self) -> None:
        """Freeze the modules and the tests."""
        _freeze()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Iterator[None]:
        """Freeze what the tests of a file have imported, and what their servers need."""
        result = yield
        if nextitem is not None and nextitem.path != item.path:
            _freeze()
        return result


def _freeze() -> None:
    gc.collect()
    gc.freeze()
