"""Fixtures of the phone's tests: an agent, and the phone in a page."""

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser

from tests.harness.live_lab import Lab
from tests.harness.servers.api import AccountClient
from tests.live.console.phone.workstation import AGENT, Workstation, endpoint_of, open_station


@pytest_asyncio.fixture(loop_scope="session")
async def agent(api: AccountClient) -> AsyncIterator[str]:
    """Create an agent whose phone is a browser; return its id."""
    path = f"/srmain/voice/agents/{AGENT}"
    body = {"endpoint": f"PJSIP/{endpoint_of(api)}", "name": "Ada", "phone": "browser"}
    await api.request("PUT", path, body, token=api.api_key)
    yield AGENT
    await api.request("DELETE", path, token=api.api_key)


@pytest_asyncio.fixture(loop_scope="session")
async def station(
    lab: Lab, api: AccountClient, agent: str, browser: Browser
) -> AsyncIterator[Workstation]:
    """Open the console's phone as the agent, ready for calls."""
    async with open_station(lab, api, agent, browser) as station:
        yield station
