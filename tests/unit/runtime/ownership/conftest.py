"""The fixture of the tests of shards and their calls."""

from collections.abc import AsyncIterator

import pytest

from tests.harness.runtime.owner_scene import OwnerScene


@pytest.fixture
async def scene() -> AsyncIterator[OwnerScene]:
    """Return a scene whose tasks do not fail."""
    made = OwnerScene()
    yield made
    await made.tasks.close()
    assert made.faults == []
