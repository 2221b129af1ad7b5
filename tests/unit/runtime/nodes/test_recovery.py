"""A node that is heard again: what was missed is told, and nothing is lost with the look."""

from functools import partial
from typing import Any

from engine.ari.decode import timestamp_ms
from engine.ari.request import LOST, Reply
from engine.calls.model.events import LegAnswered, LegCreated
from engine.calls.model.state import Gathering
from tests.harness.until import until
from tests.unit.calls.harness.builders import MAIN, outbound, say
from tests.unit.runtime.harness.inbound_node import InboundNode, inbound_node
from tests.unit.runtime.pbx.test_ari_events import ari, channel


async def test_a_node_that_comes_back_tells_what_was_missed() -> None:
    """Stored calls are compared with the PBX; a leg that has gone ends its call."""
    async with inbound_node() as at:
        actor = at.bench.shard.start_call(outbound(say()))
        at.bench.pbx.settle()
        at.node.on_disconnected(0, 30_000)
        assert at.node.is_paused
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert actor.call.is_ended
        assert actor.call.reason == "lost"
        assert at.bench.clock.armed == []


async def test_who_comes_while_the_pbx_is_looked_at_is_not_lost() -> None:
    """What was listed before says nothing of it, and its own events are heard."""
    async with inbound_node() as at:
        await at.route()
        for caller in ("trunk-1", "trunk-2"):
            shown = {**channel(caller, "Ring"), "name": "PJSIP/trunk-00000001"}
            comes = partial(
                at.node.on_event, 0, ari("StasisStart", channel=shown, args=["inbound"])
            )
            if caller == "trunk-1":  # from now on the number's route is known
                comes()
                await until(partial(at.has_call, caller), every_s=0.001)
                at.shows(shown)
        # What comes is not among the channels: those are listed before the bridges.
        at.bench.pbx.on_ask = lambda request: comes() if request.path == "bridges" else None
        at.node.on_disconnected(0, 30_000)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert at.has_call("trunk-1")
        assert at.has_call("trunk-2")


def pressed(digit: str) -> Any:
    """Let a key go at so many seconds."""
    told = {"timestamp": f"2026-11-21T05:00:0{digit}.000+0000", "digit": digit}
    return ari("ChannelDtmfReceived", channel=channel(MAIN), duration_ms=80, **told)


def overheard(at: InboundNode, keys: list[Any]) -> None:
    """Let AMI tell keys, a moment after ARI has, or would have."""
    for key in keys:
        told_ms = timestamp_ms(key.timestamp) + 3
        at.node.dtmf_log.on_digit(MAIN, key.digit, key.duration_ms, told_ms)


async def test_keys_that_others_did_not_hear_are_taken() -> None:
    """What AMI told while the node was away comes first, then what waited; none twice."""
    async with inbound_node() as at:
        actor = at.bench.shard.start_call(outbound({"type": "gather", "data": {}}))
        at.bench.shard.feed(actor, LegAnswered(MAIN))
        at.shows(channel(MAIN, "Up"))
        keys = [pressed(digit) for digit in "123"]
        at.node.on_event(0, keys[0])
        at.node.on_disconnected(0, 30_000)
        at.node.on_event(0, keys[2])
        overheard(at, keys)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert isinstance(actor.call.state, Gathering)
        assert actor.call.state.digits == "123"


async def test_keys_after_what_waits_are_taken_too() -> None:
    """A lease was over a moment before its ears were closed: what was heard then is not all."""
    async with inbound_node() as at:
        actor = at.bench.shard.start_call(outbound({"type": "gather", "data": {}}))
        at.bench.shard.feed(actor, LegAnswered(MAIN))
        at.shows(channel(MAIN, "Up"))
        keys = [pressed(digit) for digit in "123"]
        at.bench.shard.pause()
        at.node.on_event(0, keys[0])
        at.node.pause_slot(0)
        overheard(at, keys)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert isinstance(actor.call.state, Gathering)
        assert actor.call.state.digits == "123"


async def test_keys_after_an_end_that_waits_are_taken_in_order() -> None:
    """Who was called had hung up, and keys were pressed, when the ears were closed: all count."""
    async with inbound_node() as at:
        tree = {"type": "dial", "data": {"number": "+4790000001"}, "action": {"type": "gather"}}
        actor = at.bench.shard.start_call(outbound(tree))
        at.bench.shard.feed(actor, LegAnswered(MAIN))
        at.bench.shard.feed(actor, LegCreated(called := actor.call.legs[1].id))
        at.shows(channel(MAIN, "Up"))
        at.bench.shard.pause()
        at.node.on_event(
            0, ari("ChannelDestroyed", channel=channel(called), cause=16, cause_txt="")
        )
        keys = [pressed(digit) for digit in "123"]
        at.node.on_event(0, keys[0])
        at.node.pause_slot(0)
        overheard(at, keys)
        at.bench.clock.pass_ms(1_000)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert isinstance(actor.call.state, Gathering)
        assert actor.call.state.digits == "123"


async def test_what_goes_on_goes_on() -> None:
    """A leg that is still there is not disturbed; one that answered meanwhile begins."""
    async with inbound_node() as at:
        actor = at.bench.shard.start_call(outbound(say()))
        at.bench.pbx.settle()
        at.shows(channel(MAIN, "Up"))
        at.node.on_disconnected(0, 30_000)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert actor.call.status == "in-progress"


async def test_no_answer_is_looked_into() -> None:
    """A request without a reply: the desk is held, compared with the PBX, and goes on."""
    async with inbound_node() as at:
        at.bench.shard.start_call(outbound(say()))
        at.bench.pbx.reply(Reply(0))
        assert at.node.is_paused
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert at.bench.pbx.lines == ["POST channels/create", "POST channels/create"]


async def test_no_answer_after_its_desk_was_closed_is_nobodys() -> None:
    """The calls are another engine's: neither is the PBX looked at, nor is anything ordered."""
    async with inbound_node() as at:
        at.bench.shard.start_call(outbound(say()))
        at.bench.shard.context.hang_up_channel("1.1")
        at.node.remove_shard(0)
        at.bench.pbx.reply(LOST)
        at.bench.pbx.reply(LOST)
        assert at.bench.pbx.sent == []
        assert at.node.shards == {}
