"""Legs that take the place of others: a phone connects the parties of two calls."""

import msgspec
import pytest
from msgspec.structs import replace

from engine.ari.events import timestamp_ms
from engine.ari.request import Reply
from engine.calls.model.call_states import Ending
from engine.calls.model.events import CallDropped, LegAnswered
from engine.calls.model.requests import ReplacementArrived
from engine.runtime.shard.live_call import LiveCall
from tests.harness.calls.builders import CHANNEL, ID, MAIN, inbound, outbound
from tests.harness.runtime.ari_messages import ari, channel
from tests.harness.runtime.inbound_node import (
    BRIDGE,
    inbound_node,
    start_conversation,
)
from tests.harness.until import until
from wire.call_id_format import other_half

ARRIVED = other_half("3-pbx1-otherone.l4")
ARGS = ["replaces", f"{ID}.l1", "acme", "%2B4787654321"]


@pytest.mark.parametrize("is_recovered", [False, True])
async def test_a_leg_that_another_call_has_sent(is_recovered: bool) -> None:
    """It reaches the call of the leg that it replaces, and so do its events, until the end."""
    async with inbound_node() as at:
        live_call = start_conversation(at)
        data = f"switchroom-0,{','.join(ARGS)}"
        dialplan = {**channel(ARRIVED)["dialplan"], "app_data": data}
        entered = {**channel(ARRIVED, "Ring"), "dialplan": dialplan}
        if is_recovered:
            at.shows(channel(MAIN), channel(f"{ID}.l1"), entered)
            at.node.on_connected(0)
            await until(lambda: live_call.call.leg(ARRIVED) is not None, every_s=0.001)
        else:
            at.node.on_event(0, ari("StasisStart", channel=entered, args=ARGS))
        at.scene.pbx.settle()
        assert f"POST channels/{ARRIVED}/answer" in at.scene.pbx.lines
        at.node.on_event(0, ari("ChannelStateChange", channel=channel(ARRIVED, "Up")))
        assert live_call.call.is_up(ARRIVED)
        successor = at.scene.shard.adopt(LiveCall(live_call.call))
        assert at.scene.shard.find_by_channel(ARRIVED) is successor
        at.scene.shard.feed(successor, CallDropped("test"))
        assert at.scene.shard.find_by_channel(ARRIVED) is None


async def test_a_channel_that_asterisk_has_put_in_the_place_of_a_leg() -> None:
    """It is a leg of the call from then on; the one before it has ended, which no event tells."""
    async with inbound_node() as at:
        live_call = start_conversation(at)
        entered, replaced = channel(ARRIVED, "Up"), channel(f"{ID}.l1")
        at.node.on_event(0, ari("StasisStart", channel=entered, args=[], replace_channel=replaced))
        assert live_call.call.is_up(ARRIVED)
        at.scene.pbx.settle()
        assert [leg.id for leg in live_call.call.legs] == [MAIN, ARRIVED]
        at.node.on_event(0, ari("StasisEnd", channel=channel(ARRIVED)))
        assert isinstance(live_call.call.state, Ending)


async def test_a_channel_in_the_place_of_a_caller_in_a_menu() -> None:
    """The call goes on with it; it is not hung up."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound({"type": "gather", "data": {}}))
        at.scene.shard.feed(live_call, LegAnswered(MAIN))
        at.scene.pbx.settle()
        entered, replaced = channel(ARRIVED, "Up"), channel(MAIN)
        at.node.on_event(0, ari("StasisStart", channel=entered, args=[], replace_channel=replaced))
        at.scene.pbx.settle()
        assert f"DELETE channels/{ARRIVED}" not in at.scene.pbx.lines
        assert (live_call.call.main, len(live_call.call.legs)) == (ARRIVED, 1)


@pytest.mark.parametrize("is_reported", [False, True])
async def test_a_channel_that_takes_a_place_in_an_outage(is_reported: bool) -> None:
    """The recovery finds it in the bridge of the leg, if its event does not wait already."""
    async with inbound_node() as at:
        live_call = start_conversation(at)
        replaced = f"{ID}.l1"
        at.node.on_disconnected(0, 30_000)
        entered = {**channel(ARRIVED, "Up"), "id": "trunk-7"}
        at.shows(channel(MAIN), entered)
        if is_reported:
            event = ari("StasisStart", channel=entered, args=[], replace_channel=channel(replaced))
            at.node.on_event(0, event)
        else:
            bridge = {**BRIDGE, "id": f"{ID}.b2", "channels": [MAIN, "trunk-7"]}
            at.scene.pbx.shows["bridges"] = Reply(200, msgspec.json.encode([bridge]))
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert [leg.id for leg in live_call.call.legs] == [MAIN, "trunk-7"]
        assert at.scene.shard.find_by_channel("trunk-7") is live_call
        assert "DELETE channels/trunk-7" not in at.scene.pbx.lines


async def test_a_channel_in_the_place_of_an_unknown_leg_is_hung_up() -> None:
    """No engine could control it."""
    async with inbound_node() as at:
        entered, replaced = channel(ARRIVED, "Up"), channel("1.1")
        at.node.on_event(0, ari("StasisStart", channel=entered, args=[], replace_channel=replaced))
        assert at.scene.pbx.lines == [f"DELETE channels/{ARRIVED}"]


async def test_a_leg_for_no_call_is_hung_up() -> None:
    """The call has ended meanwhile: the REFER is declined."""
    async with inbound_node() as at:
        at.node.on_event(0, ari("StasisStart", channel=channel(ARRIVED, "Ring"), args=ARGS))
        assert at.scene.pbx.lines == [f"DELETE channels/{ARRIVED}"]
        assert at.scene.pbx.sent[0].request.query == (("reason_code", "21"),)


async def test_a_leg_that_arrives_during_an_outage() -> None:
    """It waits for the recovery, and its call knows it then, in whichever shard."""
    async with inbound_node() as at:
        live_call = start_conversation(at)
        shard = at.scene.shard
        shard.pause()
        at.node.on_event(0, ari("StasisStart", channel=channel(ARRIVED, "Ring"), args=ARGS))
        assert live_call.call.leg(ARRIVED) is None
        buffered = list(shard.pause_buffer.events)
        assert [type(event) for _, event in buffered] == [ReplacementArrived]
        shard.foreign.clear()
        shard.inherit_events(buffered)
        assert shard.find_by_channel(ARRIVED) is live_call


@pytest.mark.parametrize(
    ("entered_with", "is_joined"),
    [
        ("switchroom-0,inbound,+4733333333", True),
        ("switchroom-0,inbound,+4700", False),
        ("switchroom-0,inbound", False),
        ("switchroom-0,odd,+4733333333", False),
        ("switchroom-5,inbound,+4733333333", False),
    ],
)
async def test_a_channel_in_the_place_of_a_caller_in_an_outage(
    entered_with: str, *, is_joined: bool
) -> None:
    """It is in the same app, and has dialled the same number at the same time."""
    async with inbound_node() as at:
        entered = {**channel("trunk-7", "Up")}
        entered["dialplan"] = {**entered["dialplan"], "app_data": entered_with}
        at.scene.clock.now = timestamp_ms(entered["creationtime"])
        call = inbound({"type": "gather", "data": {}})
        leg = replace(call.legs[0], requested_ms=at.scene.clock.now)
        live_call = at.scene.shard.start_call(replace(call, legs=(leg,)))
        at.scene.shard.feed(live_call, LegAnswered(CHANNEL))
        at.shows(entered)
        at.node.on_disconnected(0, 30_000)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert (live_call.call.main == "trunk-7") is is_joined
