"""The phone's page, and the address of the phone for pages of others."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.harness.api.databases import sqlite_url
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene

WEBSOCKET = "wss://switchroom.example.com"


@pytest.fixture
async def with_phones(tmp_path: Path, scene: RpcScene) -> AsyncIterator[Rest]:
    """Run a REST layer that serves phones in browsers."""
    settings = settings_for(sqlite_url(tmp_path), scene.url, api_phone_url=WEBSOCKET)
    async with run_rest(settings, scene) as rest:
        given = rest.credentials["1001"]
        body = {"apiKey": given.api_key, "apiSecret": given.api_secret}
        answer = await rest.client.post("/console/session", json=body)
        assert answer.status_code == 204, answer.text
        yield rest


async def test_only_the_phone_opens_websockets(with_phones: Rest) -> None:
    """The content policy of other pages names this server only."""
    for path, sources in (("phone", f"'self' {WEBSOCKET}"), ("calls", "'self'")):
        answer = await with_phones.client.get(f"/console/{path}")
        assert answer.status_code == 200
        policy = answer.headers["Content-Security-Policy"]
        found = re.search(r"connect-src ([^;]*)", policy)
        assert found
        assert found[1] == sources


async def test_pages_of_others_load_the_present_phone(with_phones: Rest) -> None:
    """From an address that stays; each module of it may be loaded from another origin."""
    answer = await with_phones.client.get("/console/phone.js")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (302, "no-cache")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    module = await with_phones.client.get(answer.headers["Location"])
    assert module.status_code == 200
    assert module.headers["Access-Control-Allow-Origin"] == "*"
    assert "components/phone.js" in module.text
