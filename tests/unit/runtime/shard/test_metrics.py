"""What desks, nodes and keepers count of calls, outages and slots."""

from engine.ari.request import LOST
from engine.calls.model.events import LegAnswered, LegEnded
from engine.calls.model.requests import HangupRequested
from engine.observe.metrics import Metrics
from engine.runtime.nodes.event_listener import SlotListener
from engine.store.errors import Overflow
from tests.harness.until import until
from tests.unit.calls.harness.builders import MAIN, outbound, say
from tests.unit.runtime.harness.shard_bench import ShardBench
from tests.unit.runtime.pbx.test_ari_events import ari, channel

GRACE_MS = 1_000


def test_a_call_begins_and_ends() -> None:
    """Each is counted once, the end by how the call stood."""
    world = ShardBench()
    actor = world.shard.start_call(outbound(say()))
    world.shard.feed(actor, LegAnswered(MAIN))
    world.shard.feed(actor, LegEnded(MAIN, 16))
    assert dict(_meter(world).calls.started) == {("pbx1", "0", "outbound"): 1}
    assert dict(_meter(world).calls.ended) == {("pbx1", "0", "outbound", "completed"): 1}
    assert _meter(world).calls.dropped.total == 0


def test_a_call_that_a_fault_ends_is_no_ended_call() -> None:
    """It is counted apart: somebody should look."""
    world = ShardBench()
    actor = world.shard.start_call(outbound(say()))
    world.writer.refusal = Overflow("full")
    world.shard.feed(actor, HangupRequested("api"))
    assert dict(_meter(world).calls.dropped) == {("pbx1", "0"): 1}
    assert _meter(world).calls.ended.total == 0


def test_a_timers_lateness_is_noted() -> None:
    """From its moment to the call back, in seconds."""
    world = ShardBench()
    world.shard.start_call(outbound(say()))
    world.clock.now = world.clock.armed[0].when_ms + 40
    world.clock.pass_ms(0)
    late = _meter(world).calls.timer_lateness.series("pbx1", 0)
    assert (late.count, late.total) == (1, 0.04)


async def test_an_outage_is_counted_and_its_recovery_timed() -> None:
    """Events are counted by type; a node lost and back by its time to go on."""
    world = ShardBench()
    node = world.node()
    hearing = SlotListener(node, 0, GRACE_MS, lambda _slot: None)
    counts = _meter(world).nodes
    hearing.on_event(ari("ChannelStateChange", channel=channel(MAIN, "Ringing")))
    assert dict(counts.events) == {("pbx1", "0", "ChannelStateChange"): 1}
    hearing.on_disconnected("test")
    assert dict(counts.disconnects) == {("pbx1", "0"): 1}
    hearing.on_connected()
    await until(lambda: counts.recovery_duration.count == 1, every_s=0.01)
    await node.close()


async def test_calls_given_up_are_counted() -> None:
    """All of a node that stayed away for too long."""
    world = ShardBench()
    world.shard.start_call(outbound(say()))
    node = world.node()
    world.pbx.shows["bridges"] = LOST
    node.on_disconnected(0, GRACE_MS)
    world.clock.pass_ms(GRACE_MS)
    await until(lambda: dict(_meter(world).calls.lost) == {("pbx1", "0"): 1})
    await node.close()


def test_what_alerts_watch_is_there_from_the_start() -> None:
    """A number that appears as 1 has not grown, for all that Prometheus knows."""
    calls = _meter(ShardBench()).calls
    for family in (calls.dropped, calls.lost, calls.taken_over):
        assert dict(family) == {("pbx1", "0"): 0}


def _meter(world: ShardBench) -> Metrics:
    return world.shard.context.metrics
