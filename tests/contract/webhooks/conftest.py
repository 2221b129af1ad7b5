"""Fixtures of the webhook tests."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from base.address_guard import guarded_session
from tests.harness.webhooks.customer import LOOPBACK


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    """Open a guarded session that may connect to this machine."""
    async with guarded_session(LOOPBACK) as opened:
        yield opened
