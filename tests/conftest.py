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
    """Set Hypothesis up before a module that uses it is imported."""
    if b"hypothesis" in module_path.read_bytes():
        _set_hypothesis_up()


@cache
def _set_hypothesis_up() -> None:
    from hypothesis import (  # noqa: PLC0415 - costs 0.4 s where it is not used
        HealthCheck,
        Phase,
        settings,
    )

    settings.register_profile(
        "switchroom",
        deadline=None,  # a busy machine is not a fault
        suppress_health_check=[HealthCheck.too_slow],
        # To explain a story takes three times as long as to shorten it: more than a test may take.
        phases=[each for each in Phase if each is not Phase.explain],
        print_blob=True,  # to repeat a failure elsewhere
    )
    settings.load_profile("switchroom")
