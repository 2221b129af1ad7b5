"""A lease by its owner's clock, and a PBX fenced by it."""

from engine.ari.generated.operations import channels
from engine.ari.request import LOST
from engine.calls.model.events import DeadlinePassed
from engine.runtime.cluster.lease import Lease
from engine.runtime.pbx.wrappers import FencedPbx
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.shard import CallShard
from tests.harness.calls.builders import outbound
from tests.harness.runtime.manual_store import ManualTime
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.runtime.shard_scene import (
    ENDPOINTS,
    FakeShardHost,
    ManualClock,
    ManualIoRunner,
    ManualWriter,
)

HANGUP = channels.hangup("x")


async def test_requests_without_a_lease_are_dropped() -> None:
    """Requests are sent while the lease holds, and get no reply otherwise."""
    hand, pbx = ManualTime(), RecordingPbx()
    lease = Lease(1, hand.now_s + 1.75, hand.monotonic)
    fenced = FencedPbx(pbx, lease)
    fenced.send(HANGUP, "x", False, lambda _reply: None)
    assert len(pbx.sent) == 1
    assert (await fenced.ask(channels.list_())).ok
    hand.pass_s(1.75)
    fenced.send(HANGUP, "x", False, lambda _reply: None)
    assert len(pbx.sent) == 1
    assert await fenced.ask(channels.list_()) == LOST
    lease.extend(hand.now_s + 1)
    fenced.send(HANGUP, "x", False, lambda _reply: None)
    assert len(pbx.sent) == 2


def test_a_shard_without_a_lease_is_paused() -> None:
    """A frozen engine that wakes acts on no deadline and no event."""
    hand, pbx, writer = ManualTime(), RecordingPbx(), ManualWriter()
    lease = Lease(1, hand.now_s + 1.75, hand.monotonic)
    context = ShardContext("pbx1", 0, FencedPbx(pbx, lease), ENDPOINTS, lease=lease)
    shard = CallShard(context, ManualClock(), writer, ManualIoRunner(), FakeShardHost())
    shard.resume()
    live_call = shard.start_call(outbound())
    stored = len(writer.changes)
    hand.pass_s(60)
    assert shard.is_paused
    shard.feed(live_call, DeadlinePassed())
    shard.context.hang_up_channel("y")
    assert len(writer.changes) == stored
    assert all("y" not in line for line in pbx.lines)


def test_an_engine_that_was_frozen_has_seen_nothing_since_its_last_renewal() -> None:
    """So a leg whose end it finds ended then at the earliest: a freeze is no talk time."""
    hand, clock = ManualTime(), ManualClock()
    lease = Lease(1, hand.now_s + 1.75, hand.monotonic, valid_s=1.75)
    context = ShardContext("pbx1", 0, RecordingPbx(), ENDPOINTS, lease=lease)
    shard = CallShard(context, clock, ManualWriter(), ManualIoRunner(), FakeShardHost())
    hand.pass_s(1.5)
    assert lease.unseen_ms == 0
    hand.pass_s(4.5)
    assert lease.unseen_ms == 6_000
    shard.mark_gap()
    assert shard.last_seen_ms == clock.now - 6_000
    lease.end()
    assert lease.unseen_ms == 0
    shard.last_seen_ms = 0
    shard.mark_gap(silent_ms=4_000)
    assert shard.last_seen_ms == clock.now - 4_000, "its PBX stood still before that was noticed"
