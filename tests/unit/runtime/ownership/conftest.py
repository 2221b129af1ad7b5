"""The fixture of the tests of shards and their calls."""

from collections.abc import AsyncIterator

import pytest

from tests.unit.runtime.harness.owner_bench import OwnerBench


@pytest.fixture
async def bench() -> AsyncIterator[OwnerBench]:
    """Return a bench whose tasks do not fail."""
    made = OwnerBench()
    yield made
    await made.tasks.close()
    assert made.faults == []
