"""What is asked of a call while its node is away, known to be or not."""

import asyncio

import pytest

from engine.calls.model.events import LegAnswered
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.requests import HoldRequested
from engine.calls.model.state import AwaitingInstructions, Ending, Gathering
from engine.runtime.admission.placement import NoCapacity
from engine.runtime.shard.actor import Actor
from engine.store.errors import StoreDown
from tests.unit.calls.harness.builders import HTTPS, MAIN, outbound
from tests.unit.runtime.harness.inbound_node import InboundNode, inbound_node
from tests.unit.runtime.harness.shard_bench import HANGUP, ORIGINATE


def gathers(at: InboundNode, **data: int) -> Actor:
    """Have a call whose caller is to press keys."""
    gather = {"type": "gather", "data": data, "action": HTTPS}
    actor = at.bench.shard.start_call(outbound(gather))
    at.bench.shard.feed(actor, LegAnswered(MAIN))
    at.bench.pbx.settle()
    return actor


def press(at: InboundNode, *digits: str) -> None:
    """Let keys go that AMI alone tells, a second apart."""
    for digit in digits:
        at.bench.clock.pass_ms(1_000)
        at.node.dtmf_log.on_digit(MAIN, digit, 80, at.bench.clock.now)


async def test_keys_before_a_hold_count_though_nobody_knows_that_the_node_is_away() -> None:
    """Its websocket is lost: what AMI alone has told comes before what is asked."""
    async with inbound_node() as at:
        actor = gathers(at)
        press(at, "1", "2")
        at.bench.clock.pass_ms(1_000)
        held = await at.service.request(actor.call.id, HoldRequested(MAIN, held=True))
        assert isinstance(held.state, Gathering)
        assert (held.state.digits, held.state.suspended) == ("12", True)


async def test_keys_that_end_a_gather_come_before_a_hold() -> None:
    """Its webhook is asked; the hold is what comes after."""
    async with inbound_node() as at:
        actor = gathers(at, maxDigits=2)
        press(at, "1", "2")
        at.bench.clock.pass_ms(1_000)
        held = await at.service.request(actor.call.id, HoldRequested(MAIN, held=True))
        assert isinstance(held.state, AwaitingInstructions)
        asked = at.bench.io.running[-1][0]
        assert isinstance(asked, SendWebhook)
        assert b'"12"' in asked.body


async def test_a_key_of_this_very_moment_is_left_to_the_websocket() -> None:
    """It tells keys sooner than AMI does, unless it is lost."""
    async with inbound_node() as at:
        actor = gathers(at)
        press(at, "1")
        held = await at.service.request(actor.call.id, HoldRequested(MAIN, held=True))
        assert isinstance(held.state, Gathering)
        assert held.state.digits == ""


async def test_a_hangup_while_the_node_is_away_is_done_as_far_as_can_be() -> None:
    """It is stored and told to the node, which may hear it; what it answers is waited for."""
    async with inbound_node() as at:
        actor = gathers(at)
        at.node.on_disconnected(0, 30_000)
        assert await at.service.hang_up(actor.call.id, "api")
        assert at.bench.pbx.lines == [ORIGINATE, HANGUP]
        assert isinstance(actor.call.state, Ending)


async def test_what_else_is_asked_while_the_node_is_away_is_refused() -> None:
    """It may not be as it was; nothing of it is kept."""
    async with inbound_node() as at:
        actor = gathers(at)
        at.node.on_disconnected(0, 30_000)
        with pytest.raises(NoCapacity, match="is not connected"):
            await at.service.request(actor.call.id, HoldRequested(MAIN, held=True))
        assert at.bench.shard.pause_buffer.events == []


async def test_a_hangup_that_is_not_stored_is_not_promised() -> None:
    """The desk has gone to another engine first: whoever asked asks again."""
    async with inbound_node() as at:
        actor = gathers(at)
        at.node.on_disconnected(0, 30_000)
        at.bench.writer.at_once = False
        asked = asyncio.create_task(at.service.hang_up(actor.call.id, "api"))
        await asyncio.sleep(0)
        at.node.remove_shard(0)
        with pytest.raises(StoreDown):
            await asked
