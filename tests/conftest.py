"""What every ring shares: Hypothesis measures no time, because a busy machine is no fault."""

import sys

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Drop Hypothesis' limits on time, where a test has imported it."""
    if items and "hypothesis" in sys.modules:
        from hypothesis import HealthCheck, settings  # noqa: PLC0415 - costs 0.4 s where it is not used

        settings.register_profile(
            "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow]
        )
        settings.load_profile("untimed")
