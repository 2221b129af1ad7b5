"""Fixtures of the webhook tests."""

import ipaddress
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from base.address_guard import guarded_session


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    """Open a guarded session that may connect to this machine."""
    async with guarded_session((ipaddress.ip_network("127.0.0.0/8"),)) as opened:
        yield opened
