"""Fixtures of the console's tests: one lab, REST layer and browser, and an account for each test.

All share one event loop, because Playwright cannot change its loop.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.harness.api.transcripts.simulated_recognizer import TOKEN, SimulatedRecognizer
from tests.harness.console.browser import WAIT_MS, find_chromium, open_browser
from tests.harness.console.people import add_account
from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.audio import tone, wav
from tests.harness.phones.parties import Parties
from tests.harness.ports import free_port
from tests.harness.servers.api import AccountClient, Api
from tests.live.console.phone.workstation import MICROPHONE_HZ

HERE = Path(__file__).parent
MICROPHONE_MS = 10_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of this folder in the loop of the session."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """Run a PBX that serves browsers; no other REST layer takes the records of its calls."""
    settings = {"PHONE_WEBSOCKET": "yes"}
    async with open_lab(tmp_path_factory.mktemp("console"), settings=settings) as lab:
        yield lab


@pytest_asyncio.fixture(loop_scope="session")
async def lab(servers: Lab) -> AsyncIterator[Lab]:
    """Return the running servers; no channel and no bridge may be left afterwards."""
    async with servers.in_use() as lab:
        yield lab


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def recognizer() -> AsyncIterator[SimulatedRecognizer]:
    async with SimulatedRecognizer() as server:
        yield server


@pytest.fixture(scope="session")
def site_port() -> int:
    """Return the port of a customer's site whose pages may use the REST layer."""
    return free_port()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def layer(
    servers: Lab,
    recognizer: SimulatedRecognizer,
    site_port: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Api]:
    """Run a REST layer that has the engine's recordings, a recognizer, and phones in browsers."""
    settings = {
        "SWITCHROOM_RECORDINGS_URL": f"file://{servers.engine.recordings}",
        "SWITCHROOM_TRANSCRIPT_RECOGNIZERS": json.dumps([recognizer.address]),
        "SWITCHROOM_SPEECH_TOKEN": TOKEN,
        "SWITCHROOM_API_PHONE_NODES": json.dumps([servers.pbx.url]),
        "SWITCHROOM_CORS_ORIGINS": json.dumps([f"http://127.0.0.1:{site_port}"]),
    }
    folder = tmp_path_factory.mktemp("console") / "api"
    async with Api(folder, engines=[servers.engine], settings=settings) as layer:
        yield layer


@pytest_asyncio.fixture(loop_scope="session")
async def api(lab: Lab, layer: Api) -> AccountClient:
    """Add an account of this test, whose key may see every page."""
    return await add_account(layer)


@pytest.fixture(scope="session")
def microphone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the tone that the browser's microphone hears."""
    file = tmp_path_factory.mktemp("microphone") / "tone.wav"
    file.write_bytes(wav(tone(MICROPHONE_HZ, MICROPHONE_MS)))
    return file


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium(microphone: Path) -> AsyncIterator[Browser]:
    """Start a browser."""
    if find_chromium() is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    async with open_browser(microphone) as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def browser(chromium: Browser) -> AsyncIterator[Browser]:
    """Return the browser; no context, so no page and no session, is left for the next test."""
    expect.set_options(timeout=WAIT_MS)
    yield chromium
    for context in chromium.contexts:
        await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def hooks() -> AsyncIterator[WebhookServer]:
    async with WebhookServer() as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def sounds() -> AsyncIterator[MediaServer]:
    async with MediaServer() as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def parties(lab: Lab) -> AsyncIterator[Parties]:
    """Return an empty `Parties`; its call is hung up afterwards."""
    async with Parties(lab) as parties:
        yield parties
        await lab.ensure_running()
        await parties.hang_up()
