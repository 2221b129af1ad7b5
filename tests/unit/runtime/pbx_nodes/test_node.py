"""A node: routes events to calls, accepts channels, handles outages."""

import asyncio
from functools import partial
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from engine.ari.events import timestamp_ms
from engine.ari.request import Reply
from engine.calls.model.call_states import Gathering
from engine.runtime.pbx_nodes.node import SILENT_BEGINNINGS_MS, IncomingChannel
from tests.harness.calls.builders import CHANNEL, MAIN, inbound, outbound, say
from tests.harness.memory_store.store import MemoryStore
from tests.harness.runtime.ari_messages import ari, channel
from tests.harness.runtime.inbound_node import BRIDGE, inbound_node
from tests.harness.runtime.recording_pbx import LOST, OK
from tests.harness.runtime.shard_scene import ShardScene, answered_call
from tests.harness.store.documents import put_route
from tests.harness.until import until
from wire.party import Diversion


async def test_events_reach_their_calls() -> None:
    """They are routed by channel id; events of no call are ignored."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound(say()))
        at.node.on_event(0, ari("ChannelStateChange", channel=channel(MAIN, "Ringing")))
        at.node.on_event(0, ari("ChannelStateChange", channel=channel("1.1", "Up")))
        at.node.on_event(0, ari("BridgeCreated", bridge=BRIDGE))
        assert live_call.call.status == "ringing"


async def test_a_digit_that_waited_in_the_socket_was_pressed_in_time() -> None:
    """The engine was frozen: its key-down counts, by the PBX's timestamp."""
    gather = {"type": "gather", "data": {"timeout": 60_000, "digitTimeout": 1_000}}
    async with inbound_node() as at:
        live_call = answered_call(at.scene, gather)
        assert isinstance(live_call.call.state, Gathering)
        for digit, second, read_after_ms in (("1", 0, 200), ("2", 1, 3_000), ("3", 2, 0)):
            at.scene.clock.now += read_after_ms
            pressed = ari("ChannelDtmfReceived", channel=channel(MAIN), digit=digit, duration_ms=80)
            at_ms = f"2026-11-21T05:00:0{second}.000+0000"
            at.node.on_event(0, replace(pressed, timestamp=at_ms))
    assert isinstance(live_call.call.state, Gathering)
    assert live_call.call.state.digits == "123"


@pytest.mark.parametrize(
    ("answered_for_ms", "digits"), [(SILENT_BEGINNINGS_MS + 200, "11"), (500, "111")]
)
async def test_a_key_that_is_reported_twice_counts_once(answered_for_ms: int, digits: str) -> None:
    """The phone sends it as INFO, too; AMI says that it has begun once.

    Just after the answer AMI says of no key when it has begun, so each report counts.
    """
    async with inbound_node() as at:
        live_call = answered_call(at.scene, {"type": "gather", "data": {"timeout": 60_000}})
        at.scene.clock.pass_ms(answered_for_ms)
        at.node.recent_digits.on_connected()
        pressed = ari("ChannelDtmfReceived", channel=channel(MAIN), digit="1", duration_ms=80)
        up_ms = timestamp_ms(pressed.timestamp)
        at.node.recent_digits.on_digit_started(MAIN, up_ms - 80)
        at.node.on_event(0, pressed)
        at.node.on_event(0, pressed)
        at.node.recent_digits.on_digit_started(MAIN, up_ms + 80)
        at.node.on_event(0, replace(pressed, timestamp="2026-11-21T05:00:00.160+0000"))
    assert isinstance(live_call.call.state, Gathering)
    assert live_call.call.state.digits == digits


async def test_a_call_ends_when_its_caller_hangs_up() -> None:
    """The engine was frozen, and reads it late: that is no talk time."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound(say()))
        for kind, second, read_after_ms in (("Up", 0, 0), ("Down", 1, 1_900)):
            at.scene.clock.now += read_after_ms
            ended = ari("ChannelDestroyed", channel=channel(MAIN), cause=16, cause_txt="")
            event = ari("ChannelStateChange", channel=channel(MAIN, kind))
            timestamp = f"2026-11-21T05:00:0{second}.000+0000"
            at.node.on_event(0, replace(ended if second else event, timestamp=timestamp))
            at.scene.pbx.settle()
    call = live_call.call
    assert (call.ended_ms - call.answered_ms, call.unseen_ms) == (1_000, 900)


async def test_an_inbound_call() -> None:
    """It is routed by the dialled number, accepted and answered."""
    async with inbound_node() as at:
        await at.route()
        at.node.on_event(0, ari("StasisStart", channel=channel(CHANNEL, "Ring"), args=["inbound"]))
        await until(lambda: at.service.live_calls == 1, every_s=0.001)
        assert at.scene.pbx.lines == [f"POST channels/{CHANNEL}/answer"]


async def test_an_inbound_call_from_an_agent() -> None:
    """Its leg has the agent's id, also with a cached route; a leg from the trunk has none."""
    async with inbound_node() as at:
        await at.route()
        for name in ("trunk-1", "1001-00000002", "trunk-3"):
            shown = {**channel(name, "Ring"), "name": f"PJSIP/{name}"}
            at.node.on_event(0, ari("StasisStart", channel=shown, args=["inbound"]))
            await until(partial(at.has_call, name), every_s=0.001)
        live_calls = at.scene.shard.calls.values()
        assert [live_call.call.legs[0].agent for live_call in live_calls] == ["", "1001", ""]


async def test_privacy_and_diversion_of_an_inbound_call() -> None:
    """The dialplan's arguments reach the call, with a cached route too."""
    diverted = "diversion=%3Csip%3A%2B4711111111%40a%3E"
    args = ["inbound", "+4733333333;npdi", "presentation=prohib", "privacy=id", diverted]
    async with inbound_node() as at:
        await at.route()
        for name in ("1.1", "1.2"):
            at.node.on_event(0, ari("StasisStart", channel=channel(name, "Ring"), args=args))
            await until(partial(at.has_call, name), every_s=0.001)
        calls = [each.call for each in at.scene.shard.calls.values()]
    assert [(each.to, each.privacy) for each in calls] == [("+4733333333", True)] * 2
    assert [each.diversion for each in calls] == [(Diversion("+4711111111"),)] * 2


@pytest.mark.parametrize(
    ("endpoint", "known"),
    [
        ("PJSIP/trunk", ("trunk", "+4790000001", "", True, (Diversion("+4711111111"),))),
        ("PJSIP/1001", ("agent", "", "", False, ())),
        ("PJSIP/4790000003", ("agent", "", "", False, ())),
    ],
)
async def test_headers_identify_the_caller_of_a_trunk(endpoint: str, known: object) -> None:
    """A phone can send any: those with a number that no directory has call without one."""
    headers = {
        "asserted": '"Eve" <sip:+4790000001@a>, <tel:5>',
        "from": '"Bank" <sip:+4790000002@a>',
        "rpid": "<sip:+4722222222@a>;party=called, <sip:+4790000002@a>;party=calling",
        "presentation": "prohib",
        "privacy": "id",
        "diversion": "<sip:+4711111111@a>",
        "history": "<sip:+4711111111@a>;index=1, <sip:+4733333333@a>;index=1.1",
    }
    args = ["inbound", "+4733333333", *(f"{name}={quote(each)}" for name, each in headers.items())]
    async with inbound_node() as at:
        await at.route()
        arriving = {**channel("1.1", "Ring"), "name": f"{endpoint}-00000001"}
        at.node.on_event(0, ari("StasisStart", channel=arriving, args=args))
        await until(partial(at.has_call, "1.1"), every_s=0.001)
        (live_call,) = at.scene.shard.calls.values()
    call = live_call.call
    caller = (call.caller_kind, call.from_, call.caller_name, call.privacy, call.diversion)
    assert caller == known
    assert call.caller_id == call.from_


async def test_an_answered_leg_without_media_is_hung_up() -> None:
    """Its party answered with codecs that were not offered: Asterisk keeps it, without audio."""
    async with inbound_node() as at:
        at.scene.shard.start_call(outbound(say()))
        at.scene.pbx.settle()
        at.node.on_event(0, ari("ChannelStateChange", channel=channel(MAIN, "Up")))
        (check,) = [e for e in at.scene.pbx.sent if e.line.endswith(f"{MAIN}/rtp_statistics")]
        before = len(at.scene.pbx.lines)
        check.done(Reply(404))
        hangup = at.scene.pbx.sent[-1].request
        assert at.scene.pbx.lines[before:] == [f"DELETE channels/{MAIN}"]
        assert hangup.query == (("reason_code", "58"),)


async def test_an_answered_leg_with_media_stays() -> None:
    """So does one whose media is not known, because the reply was lost."""
    async with inbound_node() as at:
        at.scene.shard.start_call(outbound(say()))
        at.node.on_event(0, ari("ChannelStateChange", channel=channel(MAIN, "Up")))
        (check,) = [e for e in at.scene.pbx.sent if e.line.endswith(f"{MAIN}/rtp_statistics")]
        check.done(OK)
        check.done(LOST)
        assert f"DELETE channels/{MAIN}" not in at.scene.pbx.lines


class SlowStore(MemoryStore):
    """A store that answers when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.may_answer = asyncio.Event()

    async def route(self, number: str) -> bytes | None:
        """Read a route."""
        await self.may_answer.wait()
        return await super().route(number)


async def test_a_channel_reported_twice_is_accepted_once() -> None:
    """Its event and a recovery report it while its route is being read."""
    store = SlowStore()
    async with inbound_node(store) as at:
        await at.route()
        incoming = IncomingChannel(CHANNEL, "+4722222222", "+4733333333")
        at.service.handle_incoming(at.scene.shard, incoming)
        at.service.handle_incoming(at.scene.shard, incoming)
        store.may_answer.set()
        await until(lambda: at.service.live_calls > 0, every_s=0.001)
        await asyncio.sleep(0)
        assert at.service.live_calls == 1
        assert at.scene.pbx.lines == [f"POST channels/{CHANNEL}/answer"]


@pytest.mark.parametrize("is_missed", [False, True])
async def test_a_caller_who_gives_up_while_the_route_is_read(*, is_missed: bool) -> None:
    """No call starts, and no party is dialled; also if its end was missed in an outage."""
    store = SlowStore()
    async with inbound_node(store) as at:
        await at.route()
        ringing = channel(CHANNEL, "Ring")
        at.node.on_event(0, ari("StasisStart", channel=ringing, args=["inbound"]))
        await asyncio.sleep(0)
        if is_missed:
            at.node.on_disconnected(0, 30_000)
            at.shows()
            at.node.on_connected(0)
            await until(lambda: not at.node.is_paused, every_s=0.001)
        else:
            at.node.on_event(0, ari("StasisEnd", channel=ringing))
        store.may_answer.set()
        for _ in range(20):  # turns of the loop
            await asyncio.sleep(0)
        assert not at.has_call(CHANNEL)
        assert at.scene.pbx.lines == []


def test_a_caller_who_is_gone_has_ended() -> None:
    """Asterisk says so when the caller is to hear a ringing tone."""
    scene = ShardScene()
    tree = {"type": "dial", "data": {"number": "+4712345678"}}
    live_call = scene.shard.start_call(inbound(tree, answer_deferred=True))
    scene.pbx.reply()  # the party's channel is created
    scene.pbx.reply(Reply(404, b'{"message":"Channel not found"}'))
    assert live_call.call.leg(CHANNEL) is None


async def test_unknown_numbers_and_stray_channels_are_hung_up() -> None:
    """A caller of an unrouted number learns that the number does not exist."""
    async with inbound_node() as at:
        at.service.handle_incoming(at.scene.shard, IncomingChannel(CHANNEL, "+47", "+4700"))
        await until(lambda: bool(at.scene.pbx.sent), every_s=0.001)
        assert at.scene.pbx.sent[0].request.query == (("reason_code", "1"),)
        at.node.on_event(0, ari("StasisStart", channel=channel(MAIN), args=["called"]))
        at.node.on_event(0, ari("StasisStart", channel=channel("1.5"), args=["odd"]))
        assert at.scene.pbx.lines[1:] == [f"DELETE channels/{MAIN}", "DELETE channels/1.5"]


async def test_an_unreadable_route_is_rejected_at_once() -> None:
    """A route of another version gives 503, so that the carrier tries elsewhere."""
    async with inbound_node() as at:
        await put_route(at.store, "+4700", b'{"account": "acme", "action": {"type": "sing"}}')
        at.service.handle_incoming(at.scene.shard, IncomingChannel(CHANNEL, "+47", "+4700"))
        await until(lambda: bool(at.scene.pbx.sent), every_s=0.001)
        assert at.scene.pbx.sent[0].request.query == (("reason_code", "34"),)


async def test_an_overloaded_engine_rejects_early() -> None:
    """Without capacity the caller gets 503: try elsewhere."""
    async with inbound_node() as at:
        at.scene.writer.is_healthy = False
        at.service.handle_incoming(at.scene.shard, IncomingChannel(CHANNEL, "+47", "+4700"))
        assert at.scene.pbx.sent[0].request.query == (("reason_code", "34"),)


async def test_a_channel_of_ours_is_no_caller() -> None:
    """A leg of an ended call may enter with `inbound` as its argument: it is hung up."""
    async with inbound_node() as at:
        await at.route()
        entered = channel("0-pbx1-gonegone.l0", "Ring")
        at.node.on_event(0, ari("StasisStart", channel=entered, args=["inbound"]))
        await asyncio.sleep(0)
        assert at.scene.pbx.lines == ["DELETE channels/0-pbx1-gonegone.l0"]
        assert at.service.live_calls == 0


def test_what_is_known_of_a_caller() -> None:
    """No header of it is read before its call is admitted."""
    scene, found = ShardScene(), list[IncomingChannel]()
    node = scene.node(lambda _shard, incoming: found.append(incoming))
    shown = {**channel("1.1"), "name": "PJSIP/trunk-1-0000abcd"}
    headers = {
        "asserted": '"Eva" <sip:+4790000001@a>',
        "privacy": "id",
        "diversion": "<sip:+4711111111@a>",
        "passed-on": "yes",
    }
    args = ["inbound", "+4712", *(f"{name}={quote(each)}" for name, each in headers.items())]
    node.on_event(0, ari("StasisStart", channel=shown, args=args))
    ringing = {**shown, "id": "1.2", "state": "Ring"}
    node.on_event(0, ari("StasisStart", channel=ringing, args=["inbound"]))
    assert found == [
        IncomingChannel(
            "1.1",
            "+4722222222",
            "+4712",
            is_up=True,
            endpoint="PJSIP/trunk-1",
            is_passed_on=True,
            arguments=args[1:],
        ),
        IncomingChannel(
            "1.2", "+4722222222", "+4733333333", endpoint="PJSIP/trunk-1", arguments=[]
        ),
    ]
