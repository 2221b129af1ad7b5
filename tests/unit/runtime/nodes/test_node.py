"""A node: its events to its calls, its comings and goings, arrivals (design sections 3.6, 5)."""

import asyncio
from functools import partial

from engine.calls.model.events import LegAnswered
from engine.runtime.nodes.incoming import IncomingChannel
from engine.runtime.nodes.node import REFER_DELAY_MS
from engine.store.memory.store import MemoryStore
from tests.harness.until import until
from tests.unit.calls.harness.builders import CHANNEL, ID, MAIN, outbound, say
from tests.unit.runtime.harness.inbound_node import BRIDGE, inbound_node
from tests.unit.runtime.pbx.test_ari_events import ari, channel, refer


async def test_events_reach_their_calls() -> None:
    """By the channel's id; what is about no call of ours is passed over."""
    async with inbound_node() as at:
        actor = at.bench.shard.start_call(outbound(say()))
        at.node.on_event(0, ari("ChannelStateChange", channel=channel(MAIN, "Ringing")))
        at.node.on_event(0, ari("ChannelStateChange", channel=channel("1.1", "Up")))
        at.node.on_event(0, ari("BridgeCreated", bridge=BRIDGE))
        assert actor.call.status == "ringing"


async def test_a_call_comes_in() -> None:
    """It is found by the dialled number, taken in and answered."""
    async with inbound_node() as at:
        await at.route()
        at.node.on_event(0, ari("StasisStart", channel=channel(CHANNEL, "Ring"), args=["inbound"]))
        await until(lambda: at.service.live_calls == 1, every_s=0.001)
        assert at.bench.pbx.lines == [f"POST channels/{CHANNEL}/answer"]


async def test_an_agents_call_comes_in() -> None:
    """Its leg is the agent's, also when the number's route is remembered; the trunk's is not."""
    async with inbound_node() as at:
        await at.route()
        for name in ("trunk-1", "1001-00000002", "trunk-3"):
            shown = {**channel(name, "Ring"), "name": f"PJSIP/{name}"}
            at.node.on_event(0, ari("StasisStart", channel=shown, args=["inbound"]))
            await until(partial(at.has_call, name), every_s=0.001)
        actors = at.bench.shard.actors.values()
        assert [actor.call.legs[0].agent for actor in actors] == ["", "1001", ""]


async def test_an_arrival_told_twice_is_one_call() -> None:
    """Its event and a recovery may both tell it while its route is being read."""
    async with inbound_node() as at:
        await at.route()
        arrival = IncomingChannel(CHANNEL, "+4722222222", "+4733333333")
        at.service.handle_incoming(at.bench.shard, arrival)
        at.service.handle_incoming(at.bench.shard, arrival)
        await until(lambda: at.service.live_calls > 0, every_s=0.001)
        await asyncio.sleep(0)
        assert at.service.live_calls == 1
        assert at.bench.pbx.lines == [f"POST channels/{CHANNEL}/answer"]


class Slow(MemoryStore):
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
    async with inbound_node(store) as at:
        await at.route()
        arrival = IncomingChannel(CHANNEL, "+4722222222", "+4733333333")
        at.service.handle_incoming(at.bench.shard, arrival)
        at.service.handle_incoming(at.bench.shard, arrival)
        store.may.set()
        await until(lambda: at.service.live_calls > 0, every_s=0.001)
        assert at.bench.pbx.lines == [f"POST channels/{CHANNEL}/answer"]


async def test_nobodys_number_and_strays_are_dismissed() -> None:
    """No route: the caller is told that there is no such number; strays are hung up."""
    async with inbound_node() as at:
        at.service.handle_incoming(at.bench.shard, IncomingChannel(CHANNEL, "+47", "+4700"))
        await until(lambda: bool(at.bench.pbx.sent), every_s=0.001)
        assert at.bench.pbx.sent[0].request.query == (("reason_code", "1"),)
        at.node.on_event(0, ari("StasisStart", channel=channel(MAIN), args=["called"]))
        at.node.on_event(0, ari("StasisStart", channel=channel("1.5"), args=["odd"]))
        assert at.bench.pbx.lines[1:] == [f"DELETE channels/{MAIN}", "DELETE channels/1.5"]


async def test_a_route_that_cannot_be_read_is_told_at_once() -> None:
    """Nobody hears silence for what another version has stored: 503, so the carrier asks others."""
    async with inbound_node() as at:
        await at.store.put_route("+4700", b'{"account": "acme", "action": {"type": "sing"}}')
        at.service.handle_incoming(at.bench.shard, IncomingChannel(CHANNEL, "+47", "+4700"))
        await until(lambda: bool(at.bench.pbx.sent), every_s=0.001)
        assert at.bench.pbx.sent[0].request.query == (("reason_code", "34"),)


async def test_a_busy_engine_refuses_early() -> None:
    """No room: told as no circuit, try elsewhere."""
    async with inbound_node() as at:
        at.bench.writer.is_healthy = False
        at.service.handle_incoming(at.bench.shard, IncomingChannel(CHANNEL, "+47", "+4700"))
        assert at.bench.pbx.sent[0].request.query == (("reason_code", "34"),)


async def test_a_phone_that_refers_means_an_agent_by_an_extension() -> None:
    """A number that is an agent's extension is that agent, who is called when the PBX is ready."""
    async with inbound_node() as at:
        at.party_of = lambda number: f"agent:{number}"
        shard = at.bench.shard
        actor = shard.start_call(outbound({"type": "dial", "data": {"number": "+4712345678"}}))
        for event in (LegAnswered(MAIN), LegAnswered(f"{ID}.l1")):
            shard.feed(actor, event)
        at.bench.pbx.settle()
        at.node.on_event(0, refer(destination="1002"))
        at.bench.clock.pass_ms(REFER_DELAY_MS - 1)
        assert not actor.call.transfers
        at.bench.clock.pass_ms(1)
        at.bench.pbx.settle()
        assert [transfer.party for transfer in actor.call.transfers] == ["agent:1002"]
