"""A caller without SDP hears its first prompt when its media has an address: then it hears all."""

from collections.abc import AsyncIterator
from functools import partial

import pytest

from engine.ari.request import Reply
from engine.calls.model.call import Call
from engine.calls.model.call_states import Playing
from engine.runtime.shard.late_offers import MAX_WAIT_MS, POLL_INTERVAL_MS
from tests.harness.runtime.ari_messages import ari, channel
from tests.harness.runtime.inbound_node import InboundNode, inbound_node
from tests.harness.runtime.recording_pbx import LOST, OK
from tests.harness.until import until
from wire.base import tag_of

CALLER = "1.1"
QUERY = f"GET channels/{CALLER}/variable"
UNKNOWN = Reply(404)


@pytest.fixture
async def at() -> AsyncIterator[InboundNode]:
    """Yield a node with a caller whose INVITE had no SDP, and who gets a 200 just now."""
    async with inbound_node() as made:
        await made.route()
        args = ["inbound", "+4733333333", "no-sdp=yes"]
        made.node.on_event(0, ari("StasisStart", channel=channel(CALLER, "Ring"), args=args))
        await until(partial(made.has_call, CALLER), every_s=0.001)
        made.scene.pbx.settle()
        made.node.on_event(0, ari("ChannelStateChange", channel=channel(CALLER, "Up")))
        yield made


def call_of(at: InboundNode) -> Call:
    (live_call,) = at.scene.shard.calls.values()
    return live_call.call


def progress(at: InboundNode) -> tuple[str, str]:
    """Return the call's status, and its state."""
    call = call_of(at)
    return call.status, tag_of(call.state)


WAITING = ("in-progress", "starting")
GOES_ON = ("in-progress", "playing")


@pytest.mark.parametrize("unknown", [UNKNOWN, LOST])
async def test_the_first_verb_waits_for_the_ack(at: InboundNode, unknown: Reply) -> None:
    """Asterisk is asked until it knows where the media goes; the answer is that of the 200."""
    answered_ms = at.scene.clock.now_ms()
    assert (progress(at), [e.line for e in at.scene.pbx.sent]) == (WAITING, [QUERY])
    at.scene.pbx.reply(unknown)
    at.scene.clock.pass_ms(POLL_INTERVAL_MS - 1)
    assert at.scene.pbx.sent == []
    at.scene.clock.pass_ms(1)
    assert (progress(at), at.scene.pbx.reply(OK).line) == (WAITING, QUERY)
    assert progress(at) == GOES_ON
    assert call_of(at).answered_ms == answered_ms


async def test_a_call_without_an_ack_goes_on(at: InboundNode) -> None:
    """Asterisk ends it if no ACK comes at all."""
    for _ in range(MAX_WAIT_MS // POLL_INTERVAL_MS):
        at.scene.pbx.reply(UNKNOWN)
        at.scene.clock.pass_ms(POLL_INTERVAL_MS)
    assert progress(at) == WAITING
    at.scene.pbx.reply(UNKNOWN)
    assert progress(at) == GOES_ON


async def test_a_caller_that_leaves_before_its_ack(at: InboundNode) -> None:
    """Its call was answered, and Asterisk is asked no more."""
    (live_call,) = at.scene.shard.calls.values()
    at.node.on_event(0, ari("StasisEnd", channel=channel(CALLER)))
    assert live_call.call.status == "completed"
    at.scene.pbx.sent[0].done(OK)
    at.scene.clock.pass_ms(POLL_INTERVAL_MS)
    assert at.scene.pbx.lines.count(QUERY) == 1


async def test_a_caller_whose_ack_holds(at: InboundNode) -> None:
    """Its hold comes before Asterisk is asked again: the prompt waits for its end."""
    at.scene.pbx.reply(UNKNOWN)
    at.node.on_event(0, ari("ChannelHold", channel=channel(CALLER)))
    at.scene.clock.pass_ms(POLL_INTERVAL_MS)
    at.scene.pbx.reply(OK)
    state = call_of(at).state
    assert isinstance(state, Playing)
    assert state.suspended
    at.node.on_event(0, ari("ChannelUnhold", channel=channel(CALLER)))
    assert call_of(at).held_ms == POLL_INTERVAL_MS


async def test_another_caller_is_answered_at_once(at: InboundNode) -> None:
    """Its INVITE has SDP."""
    args = ["inbound", "+4733333333", "no-sdp="]
    at.node.on_event(0, ari("StasisStart", channel=channel("1.2", "Ring"), args=args))
    await until(partial(at.has_call, "1.2"), every_s=0.001)
    at.node.on_event(0, ari("ChannelStateChange", channel=channel("1.2", "Up")))
    states = [tag_of(each.call.state) for each in at.scene.shard.calls.values()]
    assert states == [WAITING[1], GOES_ON[1]]
