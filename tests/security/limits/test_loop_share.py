"""An account whose requests have taken its share of the event loops."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.common.loop_shares import BURST_S, MAX_WAIT_S
from tests.harness.api.databases import sqlite_url
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene

SHARE = 0.1


@pytest.fixture
async def rest(tmp_path: Path, scene: RpcScene) -> AsyncIterator[Rest]:
    settings = settings_for(sqlite_url(tmp_path), scene.url, api_loop_share=SHARE)
    async with run_rest(settings, scene) as made:
        yield made


async def test_its_requests_are_refused_before_their_bodies_are_read(rest: Rest) -> None:
    """Those of another account are served, also its requests to engines."""
    invalid = {"from": 3}
    others = await rest.token_of("other", "other")
    assert (await rest.request("GET", "/srmain/voice/calls", token=others)).status_code == 200
    assert await rest.rejected("POST", "/srmain/voice/call", invalid) != (429, "too_many", [])
    share = rest.services.loop_shares.of_account("acme")
    share.spend(BURST_S + 10 * MAX_WAIT_S * SHARE)
    assert await rest.rejected("POST", "/srmain/voice/call", invalid) == (429, "too_many", [])
    assert await rest.rejected("GET", "/srmain/voice/calls") == (429, "too_many", [])
    answer = await rest.request("GET", "/srmain/voice/calls", token=others)
    assert answer.status_code == 200
