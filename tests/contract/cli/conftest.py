"""Fixtures of the command tests."""

from collections.abc import AsyncIterator

import pytest

from tests.contract.cli.fake_engine import FakeEngine
from tests.harness.cli.controlled_call import CALL


@pytest.fixture
async def engine() -> AsyncIterator[FakeEngine]:
    """Run a fake engine with a call that can be controlled."""
    async with FakeEngine() as engine:
        engine.call = CALL
        yield engine
