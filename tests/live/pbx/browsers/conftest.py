"""A PBX that serves browsers, and an agent of it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.harness.live_lab import Lab, open_lab
from tests.harness.servers.api import Api
from tests.harness.until import until
from tests.live.pbx.browsers.browser_agent import (
    ACCOUNT,
    AGENT,
    BASE,
    ENDPOINT,
    NUMBER,
    BrowserAgent,
    is_unknown,
)


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """Run a PBX that serves browsers."""
    settings = {"PHONE_WEBSOCKET": "yes"}
    async with open_lab(tmp_path_factory.mktemp("browsers"), settings=settings) as lab:
        yield lab


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def api(servers: Lab, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    """Run a REST layer whose account has phones in browsers."""
    settings = {
        "SWITCHROOM_API_PHONE_NODES": f'["{servers.pbx.url}"]',
        "SWITCHROOM_API_MAX_CONNECTIONS_OF_ADDRESS": "1000",  # so that an account's share counts
        "SWITCHROOM_ACCOUNT_SCOPES": '["owner"]',
    }
    async with Api(
        tmp_path_factory.mktemp("api"),
        engines=[servers.engine],
        settings=settings,
        account=ACCOUNT,
        number=NUMBER,
    ) as running:
        yield running


@pytest.fixture
async def nora(lab: Lab, api: Api) -> AsyncIterator[BrowserAgent]:
    """Add an agent whose phone is a browser."""
    await until(api.is_ready, what="the REST layer to reach its engine")
    agent = BrowserAgent(lab, api)
    await agent.put(endpoint=f"PJSIP/{ENDPOINT}", phone="browser")
    yield agent
    await api.request("DELETE", f"{BASE}/{AGENT}", token=api.api_key)
    await until(lambda: is_unknown(lab), what="the endpoint to be deleted")
