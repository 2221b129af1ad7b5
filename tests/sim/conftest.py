"""Settings of the process that runs simulated calls."""

import gc
from collections.abc import Iterator

import pytest

from tests.sim.runs.long_run import settle


@pytest.fixture(scope="session", autouse=True)
def rare_garbage_collection() -> Iterator[None]:
    """Collect garbage as the simulators' commands do."""
    before = gc.get_threshold()
    settle()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)
