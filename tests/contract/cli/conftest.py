"""What tests of commands ask for by name."""

from collections.abc import AsyncIterator

import pytest

from tests.contract.cli.fake_engine import FakeEngine
from tests.unit.cli.controlled_call import CALL


@pytest.fixture
async def engine() -> AsyncIterator[FakeEngine]:
    """Serve a call that can be steered."""
    async with FakeEngine() as engine:
        engine.call = CALL
        yield engine
