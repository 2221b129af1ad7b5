"""Disconnected nodes: grace period, last probe and lost calls."""

import asyncio

import pytest

from engine.ari.request import LOST, Reply, Request
from engine.calls.model.events import LegAnswered
from engine.runtime.pbx_nodes.disconnect_grace import DisconnectGrace
from tests.harness.calls.builders import MAIN, outbound, say
from tests.harness.calls.voicemails import ARCHIVE
from tests.harness.runtime.inbound_node import inbound_node
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.runtime.shard_scene import ManualClock
from tests.harness.until import until

GRACE_MS = 30_000


class SlowPbx(RecordingPbx):
    """Answers all queries at once, when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = 0
        self.may_answer = asyncio.Event()

    async def ask(self, _request: Request) -> Reply:
        """Lose the query once `may_answer` is set."""
        self.requests += 1
        await self.may_answer.wait()
        return LOST


async def test_a_disconnected_node_loses_its_calls() -> None:
    """After the grace period its calls end as lost."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound(say()))
        at.scene.pbx.settle()
        at.scene.pbx.shows["bridges"] = LOST
        at.node.on_disconnected(0, GRACE_MS)
        at.node.on_disconnected(0, GRACE_MS)
        at.scene.clock.pass_ms(GRACE_MS - 1)
        assert not live_call.call.is_ended
        at.scene.clock.pass_ms(1)
        await until(lambda: live_call.call.is_ended, every_s=0.001)
        assert live_call.call.reason == "lost"


async def test_a_node_that_answers_is_not_given_up() -> None:
    """The next websocket attempt may be seconds away: another grace period starts."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound(say()))
        at.scene.pbx.settle()
        at.scene.pbx.shows["bridges"] = Reply(200, b"[]")
        at.node.on_disconnected(0, GRACE_MS)
        at.scene.clock.pass_ms(GRACE_MS)
        clock = at.scene.clock
        await until(
            lambda: any(each.when_ms == clock.now + GRACE_MS for each in clock.armed), every_s=0.001
        )
        assert not live_call.call.is_ended
        at.scene.pbx.shows["bridges"] = LOST
        at.scene.clock.pass_ms(GRACE_MS)
        await until(lambda: live_call.call.is_ended, every_s=0.001)


@pytest.mark.parametrize("ending", ["on_connected", "pause_slot"])
async def test_a_node_that_connects_before_the_probe(ending: str) -> None:
    """Nothing is lost by the expired grace period, nor if another engine takes the slot."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound(say()))
        at.scene.pbx.settle()
        at.scene.pbx.shows["bridges"] = LOST
        at.node.on_disconnected(0, GRACE_MS)
        at.scene.clock.pass_ms(GRACE_MS)
        getattr(at.node, ending)(0)
        await asyncio.sleep(0)
        assert not live_call.call.is_ended


async def test_a_grace_period_that_ends_during_the_probe() -> None:
    """The later answer is ignored for that slot; other slots are given up."""
    pbx, clock, given_up = SlowPbx(), ManualClock(), list[int]()
    grace = DisconnectGrace(pbx, clock, given_up.append)
    for slot in (0, 1):
        grace.begin(slot, GRACE_MS)
    clock.pass_ms(GRACE_MS)
    await until(lambda: pbx.requests == 2, every_s=0.001)
    grace.begin(0, GRACE_MS)  # it is lost once more, and is being asked already
    assert clock.armed == []
    grace.end(0)
    pbx.may_answer.set()
    await until(lambda: bool(given_up), every_s=0.001)
    assert given_up == [1]


async def test_a_frozen_node() -> None:
    """It accepts requests and never answers: the probe times out."""
    pbx, clock, given_up = SlowPbx(), ManualClock(), list[int]()
    grace = DisconnectGrace(pbx, clock, given_up.append, probe_timeout_s=0.01)
    grace.begin(0, GRACE_MS)
    clock.pass_ms(GRACE_MS)
    await until(lambda: given_up == [0], every_s=0.001)


async def test_a_closed_node() -> None:
    """Its calls belong to the next owner: no slot is given up."""
    pbx, clock, given_up = SlowPbx(), ManualClock(), list[int]()
    grace = DisconnectGrace(pbx, clock, given_up.append)
    grace.begin(0, GRACE_MS)
    clock.pass_ms(GRACE_MS)
    await until(lambda: pbx.requests == 1, every_s=0.001)
    grace.begin(1, GRACE_MS)
    await grace.close()
    pbx.may_answer.set()
    assert (given_up, clock.armed) == ([], [])


async def test_a_hung_up_call_is_lost_with_its_node() -> None:
    """Its recording cannot be archived without the node: the call ends without it."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(
            outbound(say(), recording_destination=ARCHIVE, recording_enabled=True)
        )
        at.scene.shard.feed(live_call, LegAnswered(MAIN))
        at.scene.pbx.shows["bridges"] = LOST
        at.node.on_disconnected(0, GRACE_MS)
        assert await at.service.hang_up(live_call.call.id, "api")
        at.scene.clock.pass_ms(GRACE_MS)
        await until(lambda: live_call.call.is_ended, every_s=0.001)
        assert (live_call.call.ended_by, live_call.call.status) == ("api", "completed")
