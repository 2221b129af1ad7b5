"""Fixtures of the console's tests: a REST layer beside the lab, and a browser."""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.harness.console.browser import WAIT_MS, find_chromium, open_browser
from tests.harness.live_lab import Lab
from tests.harness.servers.api import Api


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """Start a browser: each test has its own event loop, and Playwright cannot change its loop."""
    if find_chromium() is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    expect.set_options(timeout=WAIT_MS)
    async with open_browser() as browser:
        yield browser


@pytest.fixture
def account() -> str:
    """Return an account of this test: the engine keeps flows, agents and targets of all tests."""
    return f"console-{secrets.token_hex(4)}"


@pytest.fixture
async def api(lab: Lab, tmp_path: Path, account: str) -> AsyncIterator[Api]:
    """Run a REST layer, whose key has the scopes of the lab's: it may see every page."""
    scopes = {"SWITCHROOM_ACCOUNT_SCOPES": '["owner", "operations"]'}
    served = Api(tmp_path / "api", engines=[lab.engine], settings=scopes, account=account)
    async with served as api:
        yield api
