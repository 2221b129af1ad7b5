"""A node: its events to its calls, its comings and goings, arrivals (design sections 3.6, 5)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import msgspec

from engine.ari.decode import timestamp_ms
from engine.ari.request import LOST, Reply
from engine.calls.doing import Gathering
from engine.calls.events import LegAnswered
from engine.runtime.agents import Directory
from engine.runtime.gate import Gate
from engine.runtime.inbound import Arrival
from engine.runtime.node import REFER_MS, Node
from engine.runtime.rules import Rules
from engine.runtime.switch import Switch
from engine.store.memory import Memory
from tests.harness.until import until
from tests.unit.calls.building import CHANNEL, ID, MAIN, outbound, say, tree
from tests.unit.runtime.building import World
from tests.unit.runtime.test_translate import ari, channel, refer
from wire.rpc import NumberRoute


class Around:
    """A node of one desk under a switch, all by hand."""

    def __init__(self, store: Memory) -> None:
        self.world = World()
        self.store = store
        gate = Gate(self.world.clock, 100, 100)
        now_ms = self.world.clock.now_ms
        directory = Directory(self.store, now_ms, "PJSIP/{agent_id}", "PJSIP/{number}@trunk")
        rules = Rules(1, 3_600_000)
        self.switch = Switch(self.store, self.world.clock, gate, rules, directory=directory)
        desks = {0: self.world.desk}
        self.node = Node("pbx1", self.world.pbx, desks, self.world.clock, self.switch.arrive)
        self.switch.nodes["pbx1"] = self.node

    def shows(self, *channels: object) -> None:
        """Let the PBX show channels."""
        self.world.pbx.shows["channels"] = Reply(200, msgspec.json.encode(channels))

    def takes_part(self, channel_id: str) -> bool:
        """Tell whether a channel has its call."""
        return self.world.desk.route(channel_id) is not None

    async def route(self) -> None:
        """Route the number that is dialled."""
        body = msgspec.json.encode(NumberRoute("acme", tree(say())))
        await self.store.put_route("+4733333333", body)


@asynccontextmanager
async def around(store: Memory | None = None) -> AsyncIterator[Around]:
    """Close the node in the end."""
    made = Around(store or Memory())
    try:
        yield made
    finally:
        await made.node.close()


async def test_events_reach_their_calls() -> None:
    """By the channel's id; what is about no call of ours is passed over."""
    async with around() as at:
        actor = at.world.desk.open(outbound(say()))
        at.node.heard(0, ari("ChannelStateChange", channel=channel(MAIN, "Ringing")))
        at.node.heard(0, ari("ChannelStateChange", channel=channel("1.1", "Up")))
        at.node.heard(0, ari("BridgeCreated", bridge=BRIDGE))
        assert actor.call.status == "ringing"


BRIDGE = {
    "id": "b", "technology": "", "bridge_type": "mixing", "bridge_class": "", "creator": "",
    "name": "", "channels": [], "creationtime": "2026-11-21T05:00:00.000+0000",
}  # fmt: skip


async def test_a_call_comes_in() -> None:
    """It is found by the dialled number, taken in and answered."""
    async with around() as at:
        await at.route()
        at.node.heard(0, ari("StasisStart", channel=channel(CHANNEL, "Ring"), args=["inbound"]))
        await until(lambda: at.switch.live == 1, every_s=0.001)
        assert at.world.pbx.lines == [f"POST channels/{CHANNEL}/answer"]


async def test_an_agents_call_comes_in() -> None:
    """Its leg is the agent's, also when the number's route is remembered; the trunk's is not."""
    async with around() as at:
        await at.route()
        for name in ("trunk-1", "1001-00000002", "trunk-3"):
            shown = {**channel(name, "Ring"), "name": f"PJSIP/{name}"}
            at.node.heard(0, ari("StasisStart", channel=shown, args=["inbound"]))
            await until(partial(at.takes_part, name), every_s=0.001)
        actors = at.world.desk.actors.values()
        assert [actor.call.legs[0].agent for actor in actors] == ["", "1001", ""]


async def test_an_arrival_told_twice_is_one_call() -> None:
    """Its event and a recovery may both tell it while its route is being read."""
    async with around() as at:
        await at.route()
        arrival = Arrival(CHANNEL, "+4722222222", "+4733333333")
        at.switch.arrive(at.world.desk, arrival)
        at.switch.arrive(at.world.desk, arrival)
        await until(lambda: at.switch.live > 0, every_s=0.001)
        await asyncio.sleep(0)
        assert at.switch.live == 1
        assert at.world.pbx.lines == [f"POST channels/{CHANNEL}/answer"]


class Slow(Memory):
    """A store that says what a number runs when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.may = asyncio.Event()

    async def route(self, number: str) -> bytes | None:
        """Read a route."""
        await self.may.wait()
        return await super().route(number)


async def test_an_arrival_told_twice_is_taken_in_once() -> None:
    """By its event and by a recovery, while its route is being read."""
    store = Slow()
    async with around(store) as at:
        await at.route()
        arrival = Arrival(CHANNEL, "+4722222222", "+4733333333")
        at.switch.arrive(at.world.desk, arrival)
        at.switch.arrive(at.world.desk, arrival)
        store.may.set()
        await until(lambda: at.switch.live > 0, every_s=0.001)
        assert at.world.pbx.lines == [f"POST channels/{CHANNEL}/answer"]


async def test_nobodys_number_and_strays_are_dismissed() -> None:
    """No route: the caller is told that there is no such number; strays are hung up."""
    async with around() as at:
        at.switch.arrive(at.world.desk, Arrival(CHANNEL, "+47", "+4700"))
        await until(lambda: bool(at.world.pbx.sent), every_s=0.001)
        assert at.world.pbx.sent[0].request.query == (("reason_code", "1"),)
        at.node.heard(0, ari("StasisStart", channel=channel(MAIN), args=["called"]))
        at.node.heard(0, ari("StasisStart", channel=channel("1.5"), args=["odd"]))
        assert at.world.pbx.lines[1:] == [f"DELETE channels/{MAIN}", "DELETE channels/1.5"]


async def test_a_busy_engine_refuses_early() -> None:
    """No room: told as no circuit, try elsewhere."""
    async with around() as at:
        at.world.writer.healthy = False
        at.switch.arrive(at.world.desk, Arrival(CHANNEL, "+47", "+4700"))
        assert at.world.pbx.sent[0].request.query == (("reason_code", "34"),)


async def test_a_node_that_comes_back_tells_what_was_missed() -> None:
    """Stored calls are compared with the PBX; a leg that has gone ends its call."""
    async with around() as at:
        actor = at.world.desk.open(outbound(say()))
        at.world.pbx.settle()
        at.node.lost(0, 30_000)
        assert at.node.is_away
        at.node.back(0)
        await until(lambda: not at.node.is_away, every_s=0.001)
        assert actor.call.is_over
        assert actor.call.reason == "lost"
        assert at.world.clock.armed == []


async def test_who_comes_while_the_pbx_is_looked_at_is_not_lost() -> None:
    """What was listed before says nothing of it, and its own events are heard."""
    async with around() as at:
        await at.route()
        for caller in ("trunk-1", "trunk-2"):
            shown = {**channel(caller, "Ring"), "name": "PJSIP/trunk-00000001"}
            comes = partial(at.node.heard, 0, ari("StasisStart", channel=shown, args=["inbound"]))
            if caller == "trunk-1":  # from now on the number's route is known
                comes()
                await until(partial(at.takes_part, caller), every_s=0.001)
                at.shows(shown)
        # What comes is not among the channels: those are listed before the bridges.
        at.world.pbx.on_ask = lambda request: comes() if request.path == "bridges" else None
        at.node.lost(0, 30_000)
        at.node.back(0)
        await until(lambda: not at.node.is_away, every_s=0.001)
        assert at.takes_part("trunk-1")
        assert at.takes_part("trunk-2")


def pressed(digit: str) -> Any:
    """Let a key go at so many seconds."""
    told = {"timestamp": f"2026-11-21T05:00:0{digit}.000+0000", "digit": digit}
    return ari("ChannelDtmfReceived", channel=channel(MAIN), duration_ms=80, **told)


async def test_keys_that_others_did_not_hear_are_taken() -> None:
    """What AMI told while the node was away comes first, then what waited; none twice."""
    async with around() as at:
        actor = at.world.desk.open(outbound({"type": "gather", "data": {}}))
        at.world.desk.feed(actor, LegAnswered(MAIN))
        at.shows(channel(MAIN, "Up"))
        keys = [pressed(digit) for digit in "123"]
        at.node.heard(0, keys[0])
        at.node.lost(0, 30_000)
        at.node.heard(0, keys[2])
        for key in keys:
            told_ms = timestamp_ms(key.timestamp) + 3
            at.node.overheard.pressed(MAIN, key.digit, key.duration_ms, told_ms)
        at.node.back(0)
        await until(lambda: not at.node.is_away, every_s=0.001)
        assert isinstance(actor.call.doing, Gathering)
        assert actor.call.doing.digits == "123"


async def test_keys_after_what_waits_are_taken_too() -> None:
    """A lease was over a moment before its ears were closed: what was heard then is not all."""
    async with around() as at:
        actor = at.world.desk.open(outbound({"type": "gather", "data": {}}))
        at.world.desk.feed(actor, LegAnswered(MAIN))
        at.shows(channel(MAIN, "Up"))
        keys = [pressed(digit) for digit in "123"]
        at.world.desk.hold()
        at.node.heard(0, keys[0])
        at.node.rest(0)
        for key in keys:
            told_ms = timestamp_ms(key.timestamp) + 3
            at.node.overheard.pressed(MAIN, key.digit, key.duration_ms, told_ms)
        at.node.back(0)
        await until(lambda: not at.node.is_away, every_s=0.001)
        assert isinstance(actor.call.doing, Gathering)
        assert actor.call.doing.digits == "123"


async def test_what_goes_on_goes_on() -> None:
    """A leg that is still there is not disturbed; one that answered meanwhile begins."""
    async with around() as at:
        actor = at.world.desk.open(outbound(say()))
        at.world.pbx.settle()
        at.shows(channel(MAIN, "Up"))
        at.node.lost(0, 30_000)
        at.node.back(0)
        await until(lambda: not at.node.is_away, every_s=0.001)
        assert actor.call.status == "in-progress"


async def test_a_node_that_stays_away_loses_its_calls() -> None:
    """After the grace its calls are over, told as lost."""
    async with around() as at:
        actor = at.world.desk.open(outbound(say()))
        at.world.pbx.settle()
        at.node.lost(0, 30_000)
        at.node.lost(0, 30_000)
        at.world.clock.pass_ms(29_999)
        assert not actor.call.is_over
        at.world.clock.pass_ms(1)
        assert (actor.call.is_over, actor.call.reason) == (True, "lost")


async def test_no_answer_is_looked_into() -> None:
    """A request without a reply: the desk is held, compared with the PBX, and goes on."""
    async with around() as at:
        at.world.desk.open(outbound(say()))
        at.world.pbx.reply(Reply(0))
        assert at.node.is_away
        await until(lambda: not at.node.is_away, every_s=0.001)
        assert at.world.pbx.lines == ["POST channels/create", "POST channels/create"]


async def test_no_answer_after_its_desk_was_closed_is_nobodys() -> None:
    """The calls are another engine's: neither is the PBX looked at, nor is anything ordered."""
    async with around() as at:
        at.world.desk.open(outbound(say()))
        at.world.desk.dismiss("1.1")
        at.node.remove(0)
        at.world.pbx.reply(LOST)
        at.world.pbx.reply(LOST)
        assert at.world.pbx.sent == []
        assert at.node.desks == {}


async def test_a_phone_that_refers_means_an_agent_by_an_extension() -> None:
    """A number that is an agent's extension is that agent, who is called when the PBX is ready."""
    async with around() as at:
        at.node.party_of = lambda number: f"agent:{number}"
        desk = at.world.desk
        actor = desk.open(outbound({"type": "dial", "data": {"number": "+4712345678"}}))
        for event in (LegAnswered(MAIN), LegAnswered(f"{ID}.l1")):
            desk.feed(actor, event)
        at.world.pbx.settle()
        at.node.heard(0, refer(destination="1002"))
        at.world.clock.pass_ms(REFER_MS - 1)
        assert not actor.call.transfers
        at.world.clock.pass_ms(1)
        at.world.pbx.settle()
        assert [transfer.party for transfer in actor.call.transfers] == ["agent:1002"]
