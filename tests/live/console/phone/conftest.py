"""Fixtures of the phone's tests: a PBX that serves browsers, an agent, a browser with a tone."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.harness.console.browser import WAIT_MS, console_page, find_chromium, open_browser
from tests.harness.console.browser_phone import BrowserPhone
from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.audio import tone, wav
from tests.harness.servers.api import Api
from tests.live.console.phone.workstation import AGENT, ENDPOINT, MICROPHONE_HZ, Workstation

TONE_MS = 10_000


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """Run a PBX that serves browsers."""
    settings = {"PHONE_WEBSOCKET": "yes"}
    async with open_lab(tmp_path_factory.mktemp("browsers"), settings=settings) as lab:
        yield lab


@pytest.fixture
def websocket(lab: Lab) -> str:
    """Return the websocket that phones use: the PBX's own."""
    return f"{lab.pbx.url.replace('http', 'ws')}/ws"


@pytest.fixture
async def api(lab: Lab, websocket: str, tmp_path: Path) -> AsyncIterator[Api]:
    """Run a REST layer with an agent whose phone is a browser."""
    settings = {
        "SWITCHROOM_API_PHONE_URLS": json.dumps([websocket]),
        "SWITCHROOM_ALLOW": '["any"]',
    }
    async with Api(tmp_path / "api", engines=[lab.engine], settings=settings) as api:
        path = f"/srmain/voice/agents/{AGENT}"
        body = {"endpoint": f"PJSIP/{ENDPOINT}", "name": "Ada", "phone": "browser"}
        await api.request("PUT", path, body, token=api.api_key)
        yield api
        await api.request("DELETE", path, token=api.api_key)


@pytest.fixture
def home() -> Path | None:
    """Return the home of the browser's user; None: that of the test's."""
    return None


@pytest.fixture
async def browser(tmp_path: Path, home: Path | None) -> AsyncIterator[Browser]:
    """Start a browser whose microphone hears a tone."""
    if find_chromium() is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    expect.set_options(timeout=WAIT_MS)
    microphone = tmp_path / "tone.wav"
    microphone.write_bytes(wav(tone(MICROPHONE_HZ, TONE_MS)))
    async with open_browser(microphone, home) as browser:
        yield browser


@pytest.fixture
async def station(lab: Lab, api: Api, browser: Browser) -> AsyncIterator[Workstation]:
    """Open the console's phone as the agent, ready for calls."""
    async with AsyncExitStack() as stack:
        page = await stack.enter_async_context(
            console_page(browser, api, agent=AGENT, path="/console/phone")
        )
        phone = BrowserPhone(page)
        await phone.go_online()
        yield Workstation(lab, api, phone)
