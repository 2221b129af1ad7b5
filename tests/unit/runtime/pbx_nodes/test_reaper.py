"""The reaper: removes an orphan that two sweeps in a row have found."""

import asyncio

import msgspec

from base.tasks import cancel_all
from engine.ari.request import Reply, Request
from engine.calls.model.call_states import ArchivingRecordings
from engine.calls.model.events import LegAnswered, LegEnded
from engine.observe.metrics import Metrics
from engine.runtime.pbx_nodes.reaper import Reaper
from tests.harness.calls.builders import CHANNEL, ID, MAIN, outbound, say
from tests.harness.calls.voicemails import ARCHIVE
from tests.harness.runtime.ari_messages import channel
from tests.harness.runtime.inbound_node import BRIDGE, inbound_node
from tests.harness.until import until
from tests.harness.virtual_time import virtual_time
from wire.call_id_format import other_half

OTHER = "0-pbx1-gonegone"


async def test_an_orphaned_channel_is_hung_up_at_the_second_sweep() -> None:
    """A channel with the id of no live call, or one in our app that belongs to no call."""
    async with inbound_node() as at:
        at.shows(channel(f"{OTHER}.l0"), channel(CHANNEL), channel(f"0-pbx2-{ID[7:]}.l0"))
        metrics = Metrics()
        reaper = Reaper(at.node, 1, metrics)
        await reaper.sweep()
        assert at.scene.pbx.lines == []
        await reaper.sweep()
        assert sorted(at.scene.pbx.lines) == [
            f"DELETE channels/{OTHER}.l0",
            f"DELETE channels/{CHANNEL}",
        ]
        assert dict(metrics.nodes.orphans_removed) == {("pbx1",): 2}


@virtual_time
async def test_an_orphaned_bridge_is_destroyed() -> None:
    """After two sweeps in a row: an answer that is missing between them is none of them."""
    async with inbound_node() as at:
        sent: list[tuple[float, str]] = []
        now_s = asyncio.get_running_loop().time

        def ask(request: Request) -> None:
            sent.append((now_s(), f"{request.method} {request.path}"))
            is_away = 50 < now_s() < 70
            at.scene.pbx.shows["bridges"] = Reply(0 if is_away else 200, msgspec.json.encode(found))

        found = [{**BRIDGE, "id": f"{OTHER}.b1"}]
        at.scene.pbx.on_ask = ask
        sweeping = asyncio.create_task(Reaper(at.node, 30).run())
        destroyed = f"DELETE bridges/{OTHER}.b1"
        await until(lambda: sent[-1:] == [(120, destroyed)], every_s=10)
        assert [each for _, each in sent].count(destroyed) == 1
        await cancel_all([sweeping])


async def test_a_leg_sent_by_another_call_is_an_orphan_without_its_own() -> None:
    """Its id begins with that of the call that has sent it, which may be live."""
    async with inbound_node() as at:
        at.scene.shard.start_call(outbound(say()))
        at.shows(channel(MAIN), channel(other_half(MAIN)))
        before = list(at.scene.pbx.lines)
        reaper = Reaper(at.node, 1)
        for _ in range(2):
            await reaper.sweep()
        assert at.scene.pbx.lines == [*before, f"DELETE channels/{other_half(MAIN)}"]


async def test_live_resources_stay() -> None:
    """Channels and bridges of live calls, a foreign bridge, and those of a paused shard."""
    async with inbound_node() as at:
        at.scene.shard.start_call(outbound(say()))
        bridges = [{**BRIDGE, "id": f"{ID}.b1"}, BRIDGE]
        at.scene.pbx.shows["bridges"] = Reply(200, msgspec.json.encode(bridges))
        at.shows(channel(MAIN))
        reaper = Reaper(at.node, 1)
        before = list(at.scene.pbx.lines)
        for _ in range(3):
            await reaper.sweep()
        at.scene.shard.pause()
        at.shows(channel(f"{OTHER}.l0"))
        for _ in range(3):
            await reaper.sweep()
        assert at.scene.pbx.lines == before


async def test_a_call_without_legs_is_verified() -> None:
    """No event reported its end: the comparison with the PBX ends the call."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(outbound(say()))
        at.scene.pbx.settle()
        reaper = Reaper(at.node, 1)
        await reaper.sweep()
        assert not at.node.is_paused
        await reaper.sweep()
        await until(lambda: live_call.call.is_ended, every_s=0.001)
        assert live_call.call.reason == "lost"


async def test_a_call_that_archives_recordings_stays() -> None:
    """It has no legs and waits for its recordings: its slot is not paused."""
    async with inbound_node() as at:
        live_call = at.scene.shard.start_call(
            outbound(say(), recording_destination=ARCHIVE, recording_enabled=True)
        )
        for event in (LegAnswered(MAIN), LegEnded(MAIN, 16)):
            at.scene.shard.feed(live_call, event)
        assert isinstance(live_call.call.state, ArchivingRecordings)
        reaper = Reaper(at.node, 1)
        for _ in range(3):
            await reaper.sweep()
        assert not at.scene.shard.is_paused
