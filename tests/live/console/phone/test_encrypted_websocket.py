"""The phone over wss: a proxy before the REST layer has a certificate, and the node has one."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.harness.console.browser import console_page, open_browser
from tests.harness.console.trusted_authority import trusting_home
from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.phone import NEVER_MS, Phone
from tests.harness.servers.api import AccountClient, Api
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.servers.tls_files import TlsFiles
from tests.live.console.phone.workstation import CUSTOMER_HZ, assert_talk, open_station


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def files(tmp_path_factory: pytest.TempPathFactory) -> TlsFiles:
    """Make certificates of an authority that no browser knows."""
    folder = tmp_path_factory.mktemp("authority") / "tls"
    return await asyncio.to_thread(TlsFiles, folder, ["pbx", "proxy"])


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def servers(tmp_path_factory: pytest.TempPathFactory, files: TlsFiles) -> AsyncIterator[Lab]:
    """Run a PBX that serves browsers, over TLS."""
    folder = tmp_path_factory.mktemp("secure")
    async with open_lab(folder, tls=files, settings={"PHONE_WEBSOCKET": "yes"}) as lab:
        yield lab


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def proxy(files: TlsFiles) -> AsyncIterator[TcpProxy]:
    """Run a proxy that encrypts for the REST layer."""
    async with TcpProxy(tls=files.served("proxy")) as proxy:
        yield proxy


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def layer(
    servers: Lab, proxy: TcpProxy, files: TlsFiles, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Api]:
    """Run a REST layer whose phones use it."""
    settings = {
        "SWITCHROOM_API_PHONE_NODES": json.dumps([servers.pbx.url]),
        "SWITCHROOM_API_PHONE_URL": f"wss://127.0.0.1:{proxy.port}",
        "SWITCHROOM_TLS_CA": str(files.ca),
    }
    folder = tmp_path_factory.mktemp("secure") / "api"
    async with Api(folder, engines=[servers.engine], settings=settings) as layer:
        proxy.target_port = layer.port
        yield layer


async def test_both_hear_each_other(  # noqa: PLR0913, PLR0917 - what a browser of its own needs
    lab: Lab,
    api: AccountClient,
    agent: str,
    files: TlsFiles,
    microphone: Path,
    tmp_path: Path,
) -> None:
    """The phone registers over wss; a call to it and one from it have audio in both directions."""
    home = trusting_home(tmp_path / "home", files.ca)
    async with (
        open_browser(microphone, home) as browser,
        open_station(lab, api, agent, browser) as station,
    ):
        await station.talk_to_a_customer()
        answering = Phone.answering(lab.trunk_port, tone_hz=CUSTOMER_HZ, after_ms=NEVER_MS)
        async with answering as customer:
            await station.phone.dial("+47 22 22 22 22")
            await station.phone.until_ringing()
            await customer.pick_up()
            await assert_talk(customer, station.phone)
            await customer.hang_up()
        await station.phone.until_idle()


async def test_an_authority_that_the_browser_does_not_trust(
    api: AccountClient, agent: str, browser: Browser, proxy: TcpProxy
) -> None:
    """The phone says which server it does not reach, and what may be the cause."""
    async with console_page(browser, api, agent=agent, path="/console/phone") as page:
        await page.get_by_role("button", name="Go online").click()
        text = f"No connection to the phone server at 127.0.0.1:{proxy.port}"
        await expect(page.get_by_text(text)).to_contain_text("certificate")
