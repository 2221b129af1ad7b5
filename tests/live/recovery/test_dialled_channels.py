"""What shows that a channel was dialled: a snapshot tells it from one that is only marked."""

import socket
from pathlib import Path

import pytest

from engine.ari.generated.operations import channels
from engine.calls.model.commands import Dial
from engine.runtime.pbx.ari_requests import requests_for
from engine.runtime.pbx.snapshot import take_snapshot
from tests.harness.ari.fake_pbx import running
from tests.harness.pbx.asterisk import Pbx
from tests.harness.runtime.shard_scene import ENDPOINTS
from tests.harness.until import MAX_WAIT_S, until
from tests.live.pbx.test_ari import EventRecorder, address, client, send

WITHHELD = {"CONNECTEDLINE(num,i)": "+15550001", "CONNECTEDLINE(pres,i)": "prohib"}


@pytest.mark.parametrize(
    "caller",
    [{}, {"CONNECTEDLINE(num,i)": "+15550001"}, WITHHELD],
    ids=["no caller", "a number", "withheld"],
)
async def test_a_mark_is_not_a_dial(tmp_path: Path, caller: dict[str, str]) -> None:
    """An engine that dies between the two requests leaves a channel that is only marked."""
    ear, leg = EventRecorder(), "0-pbx1-dialled.l1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        silent.settimeout(MAX_WAIT_S)
        endpoint = f"PJSIP/trunk/sip:x@127.0.0.1:{silent.getsockname()[1]}"
        create = channels.create(
            endpoint=endpoint, app="switchroom-0", channel_id=leg, variables=caller
        )
        mark, dial = requests_for(Dial(leg, 30), ENDPOINTS)
        async with (
            Pbx(tmp_path / "pbx1", slots=1) as pbx,
            client(address(pbx)) as ari,
            running(ari.events("switchroom-0", ear).run()),
        ):
            await until(lambda: ear.states == ["back"] and ari.router.is_ready)
            assert (await send(ari, create, may_block=True)).ok
            await until(lambda: "StasisStart" in ear.of(leg))
            assert (await send(ari, mark)).ok
            before, _ = await take_snapshot(ari, (), (leg,))
            assert (await send(ari, dial)).ok
            assert silent.recv(8).startswith(b"INVITE")
            after, _ = await take_snapshot(ari, (), (leg,))
    assert before.channels[leg] == after.channels[leg] == "Down"
    assert (before.dialed, after.dialed) == (frozenset(), frozenset({leg}))
