"""What every ring shares: Hypothesis measures no time, because a busy machine is no fault."""

import sys

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Drop Hypothesis' deadline of 200 ms per example, where a test has imported it."""
    if items and "hypothesis" in sys.modules:
        from hypothesis import settings  # noqa: PLC0415 - costs 0.4 s where it is not used

        settings.register_profile("no-deadline", deadline=None)
        settings.load_profile("no-deadline")
