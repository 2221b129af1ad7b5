"""What several tests of reports use."""

from collections.abc import AsyncIterator

import pytest

from tests.harness.customers.callback_server import CallbackServer


@pytest.fixture
async def target() -> AsyncIterator[CallbackServer]:
    """Provide the customer's server for status callbacks."""
    async with CallbackServer() as running:
        yield running
