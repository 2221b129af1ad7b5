"""The codec of the phone: the operator chooses it, and the phone names it."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import Api
from tests.live.console.phone.workstation import CUSTOMER_HZ, Workstation, assert_talk

CODECS = {"opus,ulaw": "Opus", "g722,ulaw": "G.722"}


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=CODECS)
async def servers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Lab]:
    """Run a PBX with codecs for browsers; `test_calls` has those without the setting."""
    settings = {"PHONE_WEBSOCKET": "yes", "BROWSER_CODECS": request.param}
    async with open_lab(tmp_path_factory.mktemp("codecs"), settings=settings) as lab:
        yield lab


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def layer(servers: Lab, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    """Run a REST layer whose phones use this PBX."""
    settings = {"SWITCHROOM_API_PHONE_NODES": json.dumps([servers.pbx.url])}
    folder = tmp_path_factory.mktemp("codecs") / "api"
    async with Api(folder, engines=[servers.engine], settings=settings) as layer:
        yield layer


@pytest.fixture
def codec(request: pytest.FixtureRequest) -> str:
    """Return the name of the first codec of these."""
    return CODECS[str(request.node.callspec.params["servers"])]


async def test_the_codec_is_shown(station: Workstation, codec: str) -> None:
    """Both hear each other with it, and the phone's line names it beside the network's quality."""
    number = await station.customer()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.click("Answer")
        await assert_talk(customer, station.phone)
        line = station.phone.page.get_by_text("ms round trip")
        await expect(line).to_contain_text(f"· {codec} · network ")
        await customer.hang_up()
    await station.phone.until_idle()


async def test_keys(station: Workstation, hooks: WebhookServer) -> None:
    """They arrive with each codec, also where their clock is that of Opus."""
    assert await station.gathered(hooks, "12*3") == "12*3"
