"""A node that connects again: missed events are recovered, none is lost during the snapshot."""

from functools import partial
from typing import Any

import msgspec
import pytest

from engine.ari.events import timestamp_ms
from engine.ari.request import LOST, Reply, Request
from engine.calls.media.awaited_playbacks import active_playback
from engine.calls.model.call_states import Gathering
from engine.calls.model.events import LegAnswered, LegCreated, PlaybackEnded
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.runtime.shard.live_call import LiveCall
from tests.harness.calls.builders import MAIN, outbound, say
from tests.harness.runtime.ari_messages import ari, channel
from tests.harness.runtime.inbound_node import InboundNode, inbound_node
from tests.harness.runtime.shard_scene import ShardScene
from tests.harness.until import until
from wire.media import Clip


async def test_missed_events_are_recovered() -> None:
    """Stored calls are compared with the PBX; a leg that has ended ends its call."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound(say()))
        at.scene.pbx.settle()
        at.node.on_disconnected(0, 30_000)
        assert at.node.is_paused
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert live_call.call.is_ended
        assert live_call.call.reason == "lost"
        assert at.scene.clock.armed == []


async def test_a_channel_that_enters_during_the_snapshot_is_not_lost() -> None:
    """The snapshot does not include it, and its own events are handled."""
    async with inbound_node() as at:
        await at.route()
        for caller in ("trunk-1", "trunk-2"):
            shown = {**channel(caller, "Ring"), "name": "PJSIP/trunk-00000001"}
            enter = partial(
                at.node.on_event, 0, ari("StasisStart", channel=shown, args=["inbound"])
            )
            if caller == "trunk-1":  # from now on the route is cached
                enter()
                await until(partial(at.has_call, caller), every_s=0.001)
                at.shows(shown)
        # The snapshot lists the channels before the bridges: this one enters between the two.
        at.scene.pbx.on_ask = lambda request: enter() if request.path == "bridges" else None
        at.node.on_disconnected(0, 30_000)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert at.has_call("trunk-1")
        assert at.has_call("trunk-2")


async def test_what_begins_during_the_snapshot_is_not_lost() -> None:
    """The channels are listed before the PBX creates the leg, and its reply comes after them."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound(say()))
        replied: list[str] = []

        def reply(request: Request) -> None:
            if request.path == "bridges":
                at.scene.pbx.settle()
                replied.append(request.path)

        at.scene.pbx.on_ask = reply
        at.node.on_disconnected(0, 30_000)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert replied
        assert not live_call.outbox.commands
        assert not live_call.call.is_ended
        at.scene.pbx.on_ask = lambda _: None
        at.node.on_disconnected(0, 30_000)
        at.node.on_connected(0)  # a snapshot that begins after the reply shows whether it is there
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert live_call.call.is_ended


def digit_event(digit: str) -> Any:
    """Return the event of a digit pressed at that many seconds."""
    fields = {"timestamp": f"2026-11-21T05:00:0{digit}.000+0000", "digit": digit}
    return ari("ChannelDtmfReceived", channel=channel(MAIN), duration_ms=80, **fields)


def report_over_ami(at: InboundNode, digits: list[Any]) -> None:
    """Report digits over AMI, a moment after ARI does or would do."""
    for digit in digits:
        pbx_ms = timestamp_ms(digit.timestamp) + 3
        at.node.recent_digits.on_digit(MAIN, digit.digit, digit.duration_ms, pbx_ms)


async def test_digits_missed_over_ari_are_recovered() -> None:
    """Digits that AMI reported in the outage come before buffered ones; none counts twice."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound({"type": "gather", "data": {}}))
        at.scene.shard.feed(live_call, LegAnswered(MAIN))
        at.scene.clock.pass_ms(1_000)
        at.shows(channel(MAIN, "Up"))
        digits = [digit_event(digit) for digit in "123"]
        at.node.on_event(0, digits[0])
        at.node.on_disconnected(0, 30_000)
        at.node.on_event(0, digits[2])
        report_over_ami(at, digits)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert isinstance(live_call.call.state, Gathering)
        assert live_call.call.state.digits == "123"


async def test_digits_after_buffered_ones_are_recovered() -> None:
    """The lease ended before the listener was closed: the buffer misses later digits."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound({"type": "gather", "data": {}}))
        at.scene.shard.feed(live_call, LegAnswered(MAIN))
        at.scene.clock.pass_ms(1_000)
        at.shows(channel(MAIN, "Up"))
        digits = [digit_event(digit) for digit in "123"]
        at.scene.shard.pause()
        at.node.on_event(0, digits[0])
        at.node.pause_slot(0)
        report_over_ami(at, digits)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert isinstance(live_call.call.state, Gathering)
        assert live_call.call.state.digits == "123"


async def test_digits_after_a_buffered_hangup_are_in_order() -> None:
    """The called leg hung up and digits followed before the listener was closed: all count."""
    async with inbound_node() as at:
        tree = {"type": "dial", "data": {"number": "+4790000001"}, "action": {"type": "gather"}}
        live_call = at.scene.shard.start_call(outbound(tree))
        at.scene.shard.feed(live_call, LegAnswered(MAIN))
        at.scene.shard.feed(live_call, LegCreated(called := live_call.call.legs[1].id))
        at.shows(channel(MAIN, "Up"))
        at.scene.shard.pause()
        at.node.on_event(
            0, ari("ChannelDestroyed", channel=channel(called), cause=16, cause_txt="")
        )
        digits = [digit_event(digit) for digit in "123"]
        at.node.on_event(0, digits[0])
        at.node.pause_slot(0)
        report_over_ami(at, digits)
        at.scene.clock.pass_ms(1_000)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert isinstance(live_call.call.state, Gathering)
        assert live_call.call.state.digits == "123"


@pytest.mark.parametrize("is_held", [True, False])
@pytest.mark.parametrize("is_answered", [True, False])
@pytest.mark.parametrize("buffered", [(), ("ChannelHold",), ("ChannelHold", "ChannelUnhold")])
async def test_a_hold_that_changed_without_an_event(
    buffered: tuple[str, ...], *, is_answered: bool, is_held: bool
) -> None:
    """What the PBX shows counts; what was reported before waits for the recovery."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound({"type": "gather", "data": {}}))
        if is_answered:
            at.scene.shard.feed(live_call, LegAnswered(MAIN))
        at.shows(channel(MAIN, "Up"))
        at.scene.shard.pause()
        for event in buffered:
            at.node.on_event(0, ari(event, channel=channel(MAIN)))
        at.node.pause_slot(0)
        reads = shows_hold(at, is_held=is_held)
        at.node.on_connected(0)
        await until(lambda: is_found(reads, live_call, is_held=is_held), every_s=0.001)
        assert live_call.call.legs[0].state == "up"


async def test_a_resume_that_overtakes_the_reply() -> None:
    """It finds no hold to end, and the reply begins one: the leg is read until both agree."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound({"type": "gather", "data": {}}))
        at.scene.shard.feed(live_call, LegAnswered(MAIN))
        at.shows(channel(MAIN, "Up"))
        at.node.pause_slot(0)
        shows_hold(at, is_held=True)
        at.node.on_connected(0)
        await until(lambda: live_call.call.legs[0].held_by_phone, every_s=0.001)
        shows_hold(at, is_held=False)
        await until(lambda: not live_call.call.legs[0].held_by_phone, every_s=0.001)


async def test_a_reply_about_a_hold_that_is_lost() -> None:
    """It is asked for again."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound({"type": "gather", "data": {}}))
        at.scene.shard.feed(live_call, LegAnswered(MAIN))
        at.shows(channel(MAIN, "Up"))
        at.node.pause_slot(0)
        reads = shows_hold(at, is_held=True)
        at.scene.pbx.shows[f"channels/{MAIN}/variable"] = LOST
        at.node.on_connected(0)
        await until(lambda: bool(reads), every_s=0.001)
        reads = shows_hold(at, is_held=True)
        await until(lambda: is_found(reads, live_call, is_held=True), every_s=0.001)


def is_found(reads: list[Request], live_call: LiveCall, *, is_held: bool) -> bool:
    return bool(reads) and live_call.call.legs[0].held_by_phone == is_held


def shows_hold(at: InboundNode, *, is_held: bool) -> list[Request]:
    """Let the PBX show whether the phone holds; returns the requests that ask for it."""
    path, reads = f"channels/{MAIN}/variable", list[Request]()
    at.scene.pbx.shows[path] = Reply(200, msgspec.json.encode({"value": str(int(is_held))}))
    at.scene.pbx.on_ask = lambda each: reads.append(each) if each.path == path else None
    return reads


@pytest.mark.parametrize(
    ("from_", "dials"), [("<sip:asterisk@127.0.0.1>", 2), ("<sip:+15550001@127.0.0.1>", 1)]
)
async def test_a_mark_without_a_dial(from_: str, dials: int) -> None:
    """An engine that dies between the two leaves a leg whose party is not called: From shows it."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound(say()))
        at.scene.pbx.settle()
        at.scene.shard.feed(live_call, LegCreated(MAIN))
        at.node.on_disconnected(0, 30_000)
        at.shows(channel(MAIN, "Down"))
        value = msgspec.json.encode({"value": from_})
        at.scene.pbx.shows[f"channels/{MAIN}/variable"] = Reply(200, value)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        at.scene.pbx.settle()
        dial = f"POST channels/{MAIN}/dial"
        assert at.scene.pbx.lines.count(dial) == dials


async def test_live_legs_are_not_disturbed() -> None:
    """A leg that is up stays up; a leg that answered in the outage starts its call."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound(say()))
        at.scene.pbx.settle()
        at.shows(channel(MAIN, "Up"))
        at.node.on_disconnected(0, 30_000)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert live_call.call.status == "in-progress"


@pytest.mark.parametrize("stray", ["s7", "w7", "l7"])
async def test_a_channel_that_its_call_gave_up(stray: str) -> None:
    """Its hangup overtook its creation, and an outage hid that it came to be."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound(say()))
        at.scene.pbx.settle()
        at.shows(channel(MAIN, "Up"), channel(f"{live_call.call.id}.{stray}", "Up"))
        at.node.on_disconnected(0, 30_000)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        requests = [each.request for each in at.scene.pbx.sent]
        hung_up = [each.path for each in requests if each.method == "DELETE"]
        assert hung_up == [f"channels/{live_call.call.id}.{stray}"]


@pytest.mark.parametrize(
    ("age_ms", "is_admitted"), [(2_000, True), (60_000, False), (-60_000, False)]
)
async def test_an_answered_caller_without_a_call(age_ms: int, *, is_admitted: bool) -> None:
    """One who was answered just now is admitted again; an older call was given up.

    So was one of unknown age: the PBX's clock is ahead.
    """
    async with inbound_node() as at:
        await at.route()
        caller = channel("1700000000.9", "Up")
        at.scene.clock.now = timestamp_ms(caller["creationtime"]) + age_ms
        at.shows(caller)
        at.node.on_disconnected(0, 30_000)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        await until(
            lambda: at.has_call(caller["id"]) == is_admitted, what="the caller", every_s=0.001
        )
        assert (f"DELETE channels/{caller['id']}" in at.scene.pbx.lines) is not is_admitted


async def test_a_lost_reply_is_recovered() -> None:
    """A request without reply: the shard is paused, compared with the PBX and resumed."""
    async with inbound_node() as at:
        at.scene.shard.start_call(outbound(say()))
        at.scene.pbx.reply(Reply(0))
        assert at.node.is_paused
        await until(lambda: not at.node.is_paused, every_s=0.001)
        assert at.scene.pbx.lines == ["POST channels/create", f"GET channels/{MAIN}"]


@pytest.mark.parametrize("silent_ms", [900, 3_000])
@pytest.mark.parametrize("is_committed", [True, False])
async def test_a_prompt_that_waited_for_the_store_is_heard(
    silent_ms: int, *, is_committed: bool
) -> None:
    """However long its commit takes: it was not requested, so it was not heard."""
    async with inbound_node() as at:
        scene, shard = at.scene, at.scene.shard
        live_call = shard.start_call(outbound(say(action=say(action=say()))))
        scene.pbx.settle()
        shard.feed(live_call, LegAnswered(MAIN))
        scene.pbx.settle()
        _fetch(scene)
        scene.pbx.settle()
        scene.writer.at_once = False
        shard.feed(live_call, PlaybackEnded(_prompt(live_call)))
        scene.writer.commit()
        _fetch(scene)
        second = _prompt(live_call)
        shard.mark_gap()  # the lease is in doubt
        if is_committed:
            scene.writer.commit()
        scene.clock.now += silent_ms
        scene.writer.at_once = True
        scene.writer.commit()
        at.shows(channel(MAIN, "Up"))
        at.node.on_disconnected(0, 30_000)
        at.node.on_connected(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        scene.pbx.settle()
        assert _prompt(live_call) == second
        assert [each for each in scene.pbx.lines if f"/play/{second}" in each]


def _prompt(live_call: LiveCall) -> str:
    """Return the playback that a call waits for."""
    playback = active_playback(live_call.call)
    assert playback is not None
    return playback


def _fetch(scene: ShardScene) -> None:
    """Let the audio of a prompt of one second arrive."""
    command, done = scene.io.running.pop(0)
    assert isinstance(command, FetchMedia)
    done(MediaFetched(command.request, (Clip("a" * 32, 1_000),)))


async def test_a_lost_reply_of_a_removed_shard_is_ignored() -> None:
    """Another engine owns the calls: no snapshot is taken and no request is sent."""
    async with inbound_node() as at:
        at.scene.shard.start_call(outbound(say()))
        at.scene.shard.context.hang_up_channel("1.1")
        at.node.remove_shard(0)
        at.scene.pbx.reply(LOST)
        at.scene.pbx.reply(LOST)
        assert at.scene.pbx.sent == []
        assert at.node.shards == {}
