"""What engines tell each other of PBX nodes: digits that were heard, and phones."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from base.tasks import cancel_all
from engine.calls.model.sealed_digits import is_sealed
from engine.rpc.access import RpcAccess
from engine.rpc.peers.client import open_peer_client
from engine.rpc.peers.node_knowledge import NodeKnowledge
from engine.runtime.agents.configured_endpoints import ConfiguredEndpoints
from engine.runtime.agents.phone_logins import PhoneReports
from engine.runtime.cluster.membership import Membership
from engine.runtime.io.digit_sealer import DigitSealer
from tests.harness.ports import free_port
from tests.harness.rpc.other_engines import SINGLE_ENGINE
from tests.harness.rpc.scene import TOKEN, RpcScene, running
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.until import until

LEG, OTHER_LEG = "1700000000.1", "1700000000.2"
HOUR_MS = 3_600_000


class Peers(Membership):
    """The other engines, as the test sets them."""

    def __init__(self, *urls: str) -> None:
        super().__init__("me")
        self.urls = list(urls)
        self.revisions: dict[str, int] = {}

    @property
    def phone_revisions(self) -> dict[str, int]:
        return self.revisions

    def hearers(self, _node: str) -> list[str]:
        return self.urls


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[RpcScene]:
    """Run an engine that has heard digits on two legs."""
    async with running(tmp_path) as made:
        heard = made.service.nodes["pbx1"].recent_digits
        heard.on_digit(LEG, "1", 80, 5_000)
        heard.on_digit(OTHER_LEG, "2", 80, 5_100)
        heard.on_digit(LEG, "#", 90, 5_200)
        yield made


@asynccontextmanager
async def knowing(peers: Peers, token: str = TOKEN) -> AsyncIterator[NodeKnowledge]:
    """Open what an engine, whose clock is an hour ahead, asks its peers with."""
    access = RpcAccess("http://me", token)
    sealer = DigitSealer((token,), os.urandom)
    async with open_peer_client(SINGLE_ENGINE, access) as client:
        yield NodeKnowledge(peers, client, sealer, lambda: HOUR_MS)


async def test_digits_of_legs(scene: RpcScene) -> None:
    """An engine gets the digits of its legs, with times by its own clock."""
    async with knowing(Peers(scene.url)) as knowledge:
        digits = await knowledge.digits("pbx1", [LEG, "unknown"])
        assert [(each.leg, each.digit, each.held_ms) for each in digits] == [
            (LEG, "1", 80),
            (LEG, "#", 90),
        ]
        logged = scene.service.nodes["pbx1"].logged_digits()[LEG]
        assert digits[0].pressed_ms - logged[0].pressed_ms == HOUR_MS
        assert digits[0].missed
        assert digits[0].pbx_ms == logged[0].pbx_ms
        assert await knowledge.digits("pbx9", [LEG]) == ()


async def test_digits_are_sealed(scene: RpcScene) -> None:
    """A client with a token can't read them: they may be those of a card."""
    status, answer = await scene.request("POST", "/peers/digits", {"node": "pbx1", "legs": [LEG]})
    assert status == 200
    assert [is_sealed(each["digit"]) for each in answer["digits"]] == [True, True]
    assert '"#"' not in json.dumps(answer)


async def test_a_dead_peer_delays_nothing(scene: RpcScene) -> None:
    """The digits of another one are used; with none of them there are no digits."""
    dead = f"http://127.0.0.1:{free_port()}"
    async with knowing(Peers(dead, scene.url)) as knowledge:
        assert len(await knowledge.digits("pbx1", [LEG])) == 2
    async with knowing(Peers(dead)) as knowledge:
        assert await knowledge.digits("pbx1", [LEG]) == ()


async def test_an_engine_with_another_token_gets_nothing(scene: RpcScene) -> None:
    async with knowing(Peers(scene.url), "another token of engines") as knowledge:
        assert await knowledge.digits("pbx1", [LEG]) == ()


async def test_phones_are_learned(scene: RpcScene) -> None:
    """A report is read when its revision has changed: endpoints by node, and last logins."""
    reports, peers = PhoneReports(lambda: 1), Peers()
    known = reports.configured["pbx2"] = ConfiguredEndpoints(RecordingPbx(), lambda _name: False)
    theirs = scene.service.phone_reports
    polled = theirs.configured["pbx2"] = ConfiguredEndpoints(RecordingPbx(), lambda _name: False)
    polled.learn(["PJSIP/1001"])
    polled.is_polled = True
    theirs.logins.listener("pbx2")("1001")
    async with knowing(peers) as knowledge:
        task = asyncio.create_task(knowledge.run(reports))
        try:
            assert not known.is_read
            peers.revisions = {scene.url: theirs.revision}
            await until(lambda: known.knows("PJSIP/1001"), what="the report")
            assert reports.logins.node_of("PJSIP/1001") == "pbx2"
            assert reports.report().logins == {}
        finally:
            await cancel_all([task])
