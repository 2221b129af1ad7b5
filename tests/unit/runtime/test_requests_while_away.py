"""Requests for a call while its node is disconnected, whether that is known or not."""

import asyncio

import pytest

from engine.calls.model.call_states import AwaitingInstructions, Ending, Gathering
from engine.calls.model.events import LegAnswered
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.requests import HoldRequested
from engine.runtime.admission.node_selection import NoCapacity
from engine.runtime.shard.live_call import LiveCall
from engine.store.errors import StoreDown
from tests.harness.calls.builders import HTTPS, MAIN, outbound
from tests.harness.runtime.inbound_node import InboundNode, inbound_node
from tests.harness.runtime.shard_scene import HANGUP, ORIGINATE


def start_gather(at: InboundNode, **data: int) -> LiveCall:
    """Start a call that gathers digits."""
    gather = {"type": "gather", "data": data, "action": HTTPS}
    live_call = at.scene.shard.start_call(outbound(gather))
    at.scene.shard.feed(live_call, LegAnswered(MAIN))
    at.scene.pbx.settle()
    return live_call


def press(at: InboundNode, *digits: str) -> None:
    """Press digits that only AMI reports, a second apart."""
    for digit in digits:
        at.scene.clock.pass_ms(1_000)
        at.node.recent_digits.on_digit(MAIN, digit, 80, at.scene.clock.now)


async def test_digits_before_a_hold_count_on_an_unnoticed_disconnect() -> None:
    """Digits that only AMI has reported are applied before the request."""
    async with inbound_node() as at:
        live_call = start_gather(at)
        press(at, "1", "2")
        at.scene.clock.pass_ms(1_000)
        held = await at.service.request(live_call.call.id, HoldRequested(MAIN, held=True))
        assert isinstance(held.state, Gathering)
        assert (held.state.digits, held.state.suspended) == ("12", True)


async def test_digits_that_end_a_gather_come_before_a_hold() -> None:
    """The webhook is sent first, then the hold applies."""
    async with inbound_node() as at:
        live_call = start_gather(at, maxDigits=2)
        press(at, "1", "2")
        at.scene.clock.pass_ms(1_000)
        held = await at.service.request(live_call.call.id, HoldRequested(MAIN, held=True))
        assert isinstance(held.state, AwaitingInstructions)
        command = at.scene.io.running[-1][0]
        assert isinstance(command, SendWebhook)
        assert b'"12"' in command.body


async def test_a_recent_digit_is_left_to_the_websocket() -> None:
    """It reports digits earlier than AMI does, unless it is lost."""
    async with inbound_node() as at:
        live_call = start_gather(at)
        press(at, "1")
        held = await at.service.request(live_call.call.id, HoldRequested(MAIN, held=True))
        assert isinstance(held.state, Gathering)
        assert held.state.digits == ""


async def test_a_hangup_while_the_node_is_disconnected() -> None:
    """It is stored and sent to the node, which may receive it; the call waits for its events."""
    async with inbound_node() as at:
        live_call = start_gather(at)
        at.node.on_disconnected(0, 30_000)
        assert await at.service.hang_up(live_call.call.id, "api")
        assert [at.scene.pbx.lines[0], at.scene.pbx.lines[-1]] == [ORIGINATE, HANGUP]
        assert isinstance(live_call.call.state, Ending)


async def test_other_requests_while_the_node_is_disconnected_are_rejected() -> None:
    """The call may have changed; the request is not kept."""
    async with inbound_node() as at:
        live_call = start_gather(at)
        at.node.on_disconnected(0, 30_000)
        with pytest.raises(NoCapacity, match="is not connected"):
            await at.service.request(live_call.call.id, HoldRequested(MAIN, held=True))
        assert at.scene.shard.pause_buffer.events == []


async def test_a_hangup_that_is_not_stored_fails() -> None:
    """Another engine has taken over first: the client retries."""
    async with inbound_node() as at:
        live_call = start_gather(at)
        at.node.on_disconnected(0, 30_000)
        at.scene.writer.at_once = False
        request = asyncio.create_task(at.service.hang_up(live_call.call.id, "api"))
        await asyncio.sleep(0)
        at.node.remove_shard(0)
        with pytest.raises(StoreDown):
            await request
