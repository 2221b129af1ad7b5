"""What every ring shares: the plugins of the gate, plain logs, no limits on Hypothesis' time."""

from functools import cache
from pathlib import Path

import pytest
import structlog

from tests.harness.gate import plugins


def pytest_addoption(parser: pytest.Parser) -> None:
    plugins.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    plugins.register(config)
    # The default are rich's tracebacks: they cost a third of the tests of callbacks and runtime.
    console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], console])


def pytest_pycollect_makemodule(module_path: Path) -> None:
    """Drop Hypothesis' limits on time before a module that uses it is imported.

    A busy machine is no fault.
    """
    if b"hypothesis" in module_path.read_bytes():
        _drop_time_limits()


@cache
def _drop_time_limits() -> None:
    from hypothesis import HealthCheck, settings  # noqa: PLC0415 - costs 0.4 s where it is not used

    checks = [HealthCheck.too_slow]
    settings.register_profile("untimed", deadline=None, suppress_health_check=checks)
    settings.load_profile("untimed")
