"""A lease by its owner's clock, and a PBX that is commanded only under it."""

from engine.ari.generated.operations import channels
from engine.ari.request import LOST
from engine.calls.model.events import DeadlinePassed
from engine.runtime.cluster.lease import Lease
from engine.runtime.pbx.fenced import FencedPbx
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.shard import CallShard
from tests.unit.calls.harness.builders import outbound
from tests.unit.runtime.harness.manual_store import ManualTime
from tests.unit.runtime.harness.recording_pbx import RecordingPbx
from tests.unit.runtime.harness.shard_bench import (
    ENDPOINTS,
    FakeShardHost,
    ManualClock,
    ManualIoRunner,
    ManualWriter,
)

HANGUP = channels.hangup("x")


async def test_what_is_sent_without_a_lease_goes_nowhere() -> None:
    """Before its end requests are sent; after it nothing is, and nothing answers; then again."""
    hand, pbx = ManualTime(), RecordingPbx()
    lease = Lease(1, hand.now_s + 1.75, hand.monotonic)
    leased = FencedPbx(pbx, lease)
    leased.send(HANGUP, "x", False, lambda _reply: None)
    assert len(pbx.sent) == 1
    assert (await leased.ask(channels.list_())).ok
    hand.pass_s(1.75)
    leased.send(HANGUP, "x", False, lambda _reply: None)
    assert len(pbx.sent) == 1
    assert await leased.ask(channels.list_()) == LOST
    lease.extend(hand.now_s + 1)
    leased.send(HANGUP, "x", False, lambda _reply: None)
    assert len(pbx.sent) == 2


def test_a_desk_without_a_lease_stands() -> None:
    """A frozen engine wakes: whatever is due or comes in is not acted upon."""
    hand, pbx, writer = ManualTime(), RecordingPbx(), ManualWriter()
    lease = Lease(1, hand.now_s + 1.75, hand.monotonic)
    place = ShardContext("pbx1", 0, FencedPbx(pbx, lease), ENDPOINTS, lease=lease)
    shard = CallShard(place, ManualClock(), writer, ManualIoRunner(), FakeShardHost())
    shard.resume()
    actor = shard.start_call(outbound())
    stored = len(writer.changes)
    hand.pass_s(60)
    assert shard.is_paused
    shard.feed(actor, DeadlinePassed())
    shard.context.hang_up_channel("y")
    assert len(writer.changes) == stored
    assert all("y" not in line for line in pbx.lines)
