"""Metrics of shards and nodes: calls and outages."""

from structlog.testing import capture_logs

from engine.ari.events import UnknownEvent
from engine.ari.request import LOST
from engine.calls.model.events import LegAnswered, LegEnded, RecordingsArchived
from engine.calls.model.requests import HangupRequested
from engine.observe.metrics import Metrics
from engine.runtime.pbx_nodes.slots import SlotListener
from engine.store.errors import Overflow
from tests.harness.calls.builders import MAIN, outbound, say
from tests.harness.calls.recordings import ARCHIVE
from tests.harness.runtime.ari_messages import ari, channel
from tests.harness.runtime.shard_scene import ShardScene
from tests.harness.until import until
from wire.shard import ShardId

GRACE_MS = 1_000


def test_a_call_starts_and_ends() -> None:
    """Each is counted once, the end by the call's status."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound(say()))
    scene.shard.feed(live_call, LegAnswered(MAIN))
    scene.shard.feed(live_call, LegEnded(MAIN, 16))
    assert dict(_metrics(scene).calls.started) == {("pbx1", "0", "outbound"): 1}
    assert dict(_metrics(scene).calls.ended) == {("pbx1", "0", "outbound", "completed"): 1}
    assert _metrics(scene).calls.dropped.total == 0


def test_a_failed_recording_is_counted() -> None:
    """The node has no file of it: an operator should look."""
    scene = ShardScene()
    call = outbound(say(), recording_destination=ARCHIVE, recording_enabled=True)
    live_call = scene.shard.start_call(call)
    for event in (LegAnswered(MAIN), LegEnded(MAIN, 16)):
        scene.shard.feed(live_call, event)
    (request,) = {each.archive_request for each in live_call.call.recordings}
    with capture_logs() as logged:
        scene.shard.feed(live_call, RecordingsArchived(request, fault="lost"))
    assert dict(_metrics(scene).calls.failed_recordings)["pbx1", "lost"] == 1
    assert ("recording failed", "lost") in [(e["event"], e.get("reason")) for e in logged]


def test_a_dropped_call_is_no_ended_call() -> None:
    """Internal errors have their own counter: an operator should look."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound(say()))
    scene.writer.refusal = Overflow("full")
    scene.shard.feed(live_call, HangupRequested("api"))
    assert dict(_metrics(scene).calls.dropped) == {("pbx1", "0"): 1}
    assert _metrics(scene).calls.ended.total == 0


def test_timer_lateness() -> None:
    """From the deadline to the callback, in seconds."""
    scene = ShardScene()
    scene.shard.start_call(outbound(say()))
    scene.clock.now = scene.clock.armed[0].when_ms + 40
    scene.clock.pass_ms(0)
    late = _metrics(scene).calls.timer_lateness.series("pbx1", 0)
    assert (late.count, late.total) == (1, 0.04)


async def test_an_outage_is_counted_and_its_recovery_timed() -> None:
    """Events are counted by type; a recovery by its duration."""
    scene = ShardScene()
    node = scene.node()
    replaced: list[ShardId] = []
    listener = SlotListener(node, 0, GRACE_MS, replaced.append)
    metrics = _metrics(scene).nodes
    listener.on_event(ari("ChannelStateChange", channel=channel(MAIN, "Ringing")))
    listener.on_event(UnknownEvent("Later", b"{}"))
    assert dict(metrics.events) == {
        ("pbx1", "0", "ChannelStateChange"): 1,
        ("pbx1", "0", "unknown"): 1,
    }
    listener.on_disconnected("test", 0)
    assert dict(metrics.disconnects) == {("pbx1", "0"): 1}
    scene.pbx.on_ask = lambda _request: scene.clock.pass_ms(20)
    listener.on_connected()
    await until(lambda: metrics.recovery_duration.count == 1, every_s=0.01)
    assert metrics.recovery_duration.series("pbx1", 0).total == 0.04
    listener.on_replaced()
    assert replaced == [ShardId("pbx1", 0)]
    await node.close()


async def test_lost_calls_are_counted() -> None:
    """All calls of a node that stayed disconnected."""
    scene = ShardScene()
    scene.shard.start_call(outbound(say()))
    node = scene.node()
    scene.pbx.shows["bridges"] = LOST
    node.on_disconnected(0, GRACE_MS)
    scene.clock.pass_ms(GRACE_MS)
    await until(lambda: dict(_metrics(scene).calls.lost) == {("pbx1", "0"): 1})
    await node.close()


def test_rare_counters_start_at_zero() -> None:
    """For Prometheus a counter that appears as 1 has not grown."""
    calls = _metrics(ShardScene()).calls
    for family in (calls.dropped, calls.lost, calls.taken_over):
        assert dict(family) == {("pbx1", "0"): 0}


def _metrics(scene: ShardScene) -> Metrics:
    return scene.shard.context.metrics
