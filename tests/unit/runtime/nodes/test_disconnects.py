"""A node that stays away: what is waited for, when it is asked once more, and what is lost then."""

import asyncio

import pytest

from engine.ari.request import LOST, Reply, Request
from engine.calls.model.events import LegAnswered
from engine.runtime.nodes.disconnects import DisconnectGrace
from tests.harness.until import until
from tests.unit.calls.harness.builders import MAIN, outbound, say
from tests.unit.calls.harness.voicemails import ARCHIVE
from tests.unit.runtime.harness.inbound_node import inbound_node
from tests.unit.runtime.harness.recording_pbx import RecordingPbx
from tests.unit.runtime.harness.shard_bench import ManualClock

GRACE_MS = 30_000


class SlowPbx(RecordingPbx):
    """Answers all that it is asked at one moment."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = 0
        self.may_answer = asyncio.Event()

    async def ask(self, _request: Request) -> Reply:
        """Be away, once it may."""
        self.requests += 1
        await self.may_answer.wait()
        return LOST


async def test_a_node_that_stays_away_loses_its_calls() -> None:
    """After the grace its calls are over, told as lost."""
    async with inbound_node() as at:
        actor = at.bench.shard.start_call(outbound(say()))
        at.bench.pbx.settle()
        at.bench.pbx.shows["bridges"] = LOST
        at.node.on_disconnected(0, GRACE_MS)
        at.node.on_disconnected(0, GRACE_MS)
        at.bench.clock.pass_ms(GRACE_MS - 1)
        assert not actor.call.is_ended
        at.bench.clock.pass_ms(1)
        await until(lambda: actor.call.is_ended, every_s=0.001)
        assert actor.call.reason == "lost"


async def test_a_node_that_answers_is_not_given_up() -> None:
    """The next try of its websocket may be seconds off: another grace begins."""
    async with inbound_node() as at:
        actor = at.bench.shard.start_call(outbound(say()))
        at.bench.pbx.settle()
        at.bench.pbx.shows["bridges"] = Reply(200, b"[]")
        at.node.on_disconnected(0, GRACE_MS)
        at.bench.clock.pass_ms(GRACE_MS)
        clock = at.bench.clock
        await until(
            lambda: any(each.when_ms == clock.now + GRACE_MS for each in clock.armed), every_s=0.001
        )
        assert not actor.call.is_ended
        at.bench.pbx.shows["bridges"] = LOST
        at.bench.clock.pass_ms(GRACE_MS)
        await until(lambda: actor.call.is_ended, every_s=0.001)


@pytest.mark.parametrize("leaves", ["on_connected", "pause_slot"])
async def test_a_node_that_comes_back_before_it_is_asked(leaves: str) -> None:
    """Or whose slot goes to another engine: nothing is lost by the grace that was over."""
    async with inbound_node() as at:
        actor = at.bench.shard.start_call(outbound(say()))
        at.bench.pbx.settle()
        at.bench.pbx.shows["bridges"] = LOST
        at.node.on_disconnected(0, GRACE_MS)
        at.bench.clock.pass_ms(GRACE_MS)
        getattr(at.node, leaves)(0)
        await asyncio.sleep(0)
        assert not actor.call.is_ended


async def test_what_ends_while_it_is_asked() -> None:
    """Nothing is concluded from an answer that comes after that; others are given up by it."""
    pbx, clock, given_up = SlowPbx(), ManualClock(), list[int]()
    absences = DisconnectGrace(pbx, clock, given_up.append)
    for slot in (0, 1):
        absences.begin(slot, GRACE_MS)
    clock.pass_ms(GRACE_MS)
    await until(lambda: pbx.requests == 2, every_s=0.001)
    absences.begin(0, GRACE_MS)  # it is lost once more, and is being asked already
    assert clock.armed == []
    absences.end(0)
    pbx.may_answer.set()
    await until(lambda: bool(given_up), every_s=0.001)
    assert given_up == [1]


async def test_a_node_that_stands_still() -> None:
    """It takes what it is sent and answers nothing: that is not waited for for long."""
    pbx, clock, given_up = SlowPbx(), ManualClock(), list[int]()
    absences = DisconnectGrace(pbx, clock, given_up.append, probe_timeout_s=0.01)
    absences.begin(0, GRACE_MS)
    clock.pass_ms(GRACE_MS)
    await until(lambda: given_up == [0], every_s=0.001)


async def test_a_node_that_is_closed() -> None:
    """Its calls are the next owner's: nothing is given up any more."""
    pbx, clock, given_up = SlowPbx(), ManualClock(), list[int]()
    absences = DisconnectGrace(pbx, clock, given_up.append)
    absences.begin(0, GRACE_MS)
    clock.pass_ms(GRACE_MS)
    await until(lambda: pbx.requests == 1, every_s=0.001)
    absences.begin(1, GRACE_MS)
    await absences.close()
    pbx.may_answer.set()
    assert (given_up, clock.armed) == ([], [])


async def test_a_call_that_was_asked_to_end_is_lost_with_its_node() -> None:
    """Its recording can't be filed while the node is away: it is not waited for any longer."""
    async with inbound_node() as at:
        actor = at.bench.shard.start_call(
            outbound(say(), recording_destination=ARCHIVE, recording_enabled=True)
        )
        at.bench.shard.feed(actor, LegAnswered(MAIN))
        at.bench.pbx.shows["bridges"] = LOST
        at.node.on_disconnected(0, GRACE_MS)
        assert await at.service.hang_up(actor.call.id, "api")
        at.bench.clock.pass_ms(GRACE_MS)
        await until(lambda: actor.call.is_ended, every_s=0.001)
        assert (actor.call.ended_by, actor.call.status) == ("api", "completed")
