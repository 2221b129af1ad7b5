"""A call that the engine cannot handle ends alone: the calls beside it continue."""

from functools import partial

import msgspec
from msgspec.structs import replace

from engine.ari.request import Reply
from engine.calls.model.events import DeadlinePassed, LegAnswered
from engine.calls.model.storage_format import decode_stored_call
from engine.runtime.shard.live_call import LiveCall
from tests.harness.calls.builders import MAIN, outbound, say
from tests.harness.runtime.ari_messages import ari, channel
from tests.harness.runtime.inbound_node import InboundNode, inbound_node
from tests.harness.runtime.recording_pbx import LOST
from tests.harness.runtime.shard_scene import HANGUP, ShardScene, answered_call
from tests.harness.until import until
from tests.harness.virtual_time import virtual_time

POISON = "0-pbx1-poison"
POISON_LEG = f"{POISON}.l0"


def poison(live_call: LiveCall) -> LiveCall:
    """Make a call that raises wherever its transfer matters."""
    live_call.call = replace(live_call.call, transfers=("poison",))
    return live_call


def start_poison(scene: ShardScene) -> LiveCall:
    """Start a call beside the first one, and poison it."""
    call = outbound(say())
    leg = replace(call.legs[0], id=POISON_LEG)
    live_call = scene.shard.start_call(replace(call, id=POISON, main=POISON_LEG, legs=(leg,)))
    scene.pbx.settle()
    return poison(live_call)


async def reconnect(at: InboundNode) -> None:
    """Lose the node's events, get them again, and wait until the calls continue."""
    at.node.on_disconnected(0, 30_000)
    at.node.on_connected(0)
    await until(lambda: not at.node.is_paused, every_s=0.001)


@virtual_time
async def test_a_poison_call_does_not_block_the_recovery() -> None:
    """It is dropped and counted; the other calls are recovered and the shard continues."""
    async with inbound_node() as at:
        bad = start_poison(at.scene)
        good = at.scene.shard.start_call(outbound(say()))
        at.scene.pbx.settle()
        at.shows(channel(MAIN, "Up"), channel(POISON_LEG, "Up"))
        await reconnect(at)
        assert good.call.status == "in-progress"
        assert list(at.scene.shard.calls) == [good.call.id]
        assert f"DELETE channels/{POISON_LEG}" in at.scene.pbx.lines
        assert at.scene.shard.context.metrics.calls.dropped.total == 1
        last = [each for each in at.scene.writer.changes if each.call_id == POISON][-1]
        end = decode_stored_call(last.state).call
        assert (last.live, end.is_ended, end.reason) == (False, True, "internal")
        at.scene.shard.feed(bad, LegAnswered(POISON_LEG))
        assert at.scene.shard.find_by_channel(POISON_LEG) is None


@virtual_time
async def test_a_recovery_goes_on_after_a_bad_channel() -> None:
    """A channel that cannot be taken in is counted; the next recovery begins as always."""

    def refuse(_shard: object, _channel: object) -> None:
        raise KeyError("a fault of the engine")

    scene = ShardScene()
    node = scene.node(refuse)
    entered = {**channel("trunk-1", "Ring"), "name": "PJSIP/trunk-00000001"}
    scene.pbx.shows["channels"] = Reply(200, msgspec.json.encode([entered]))
    failures = scene.shard.context.metrics.nodes.recovery_failures

    def has_failed(count: int) -> bool:
        return failures.total == count

    for count in (1, 2):
        node.on_disconnected(0, 30_000)
        node.on_connected(0)
        await until(partial(has_failed, count), every_s=0.001)
        assert not node.is_paused
    await node.close()


@virtual_time
async def test_an_unexpected_error_of_the_snapshot_is_retried() -> None:
    """The shard stays paused until a snapshot succeeds."""
    async with inbound_node() as at:
        good = at.scene.shard.start_call(outbound(say()))
        at.scene.pbx.settle()
        errors = [KeyError("a fault of the engine")]

        def fail_once(_request: object) -> None:
            if errors:
                raise errors.pop()

        at.scene.pbx.on_ask = fail_once
        at.shows(channel(MAIN, "Up"))
        await reconnect(at)
        assert good.call.status == "in-progress"
        assert at.scene.shard.context.metrics.nodes.recovery_failures.total == 1


def test_a_poison_call_is_dropped_at_its_deadline() -> None:
    """Its timer does not raise into the event loop."""
    scene = ShardScene()
    bad = start_poison(scene)
    scene.clock.pass_ms(60_000)
    assert scene.shard.calls == {}
    assert scene.pbx.lines[-1] == f"DELETE channels/{POISON_LEG}"
    scene.shard.feed(bad, DeadlinePassed())
    assert scene.clock.armed == []


def test_a_poison_call_does_not_stop_a_resume() -> None:
    """The timers of the other calls are set."""
    scene = ShardScene()
    start_poison(scene)
    good = answered_call(scene)
    scene.shard.pause()
    scene.shard.resume()
    assert list(scene.shard.calls) == [good.call.id]
    assert scene.clock.armed


def test_a_command_that_cannot_be_executed_ends_its_call() -> None:
    """The writer, whose callback it runs in, does not see the exception."""
    scene = ShardScene()
    scene.writer.at_once = False
    answered_call(scene)
    scene.io.error = KeyError("a fault of the engine")
    scene.writer.commit()
    assert scene.shard.calls == {}
    assert scene.pbx.lines[-1] == HANGUP


def test_a_reply_that_cannot_be_handled_ends_its_call() -> None:
    """The connection that delivers it, and other calls' replies, does not see the exception."""
    scene = ShardScene()
    scene.shard.start_call(outbound(say()))
    scene.host.error = KeyError("a fault of the engine")
    scene.pbx.reply(LOST)
    assert scene.shard.calls == {}
    assert scene.pbx.lines[-1] == HANGUP


@virtual_time
async def test_an_event_that_cannot_be_translated_ends_its_call() -> None:
    """The websocket that delivers it stays connected."""
    async with inbound_node() as at:
        at.scene.shard.start_call(outbound(say()))
        at.scene.pbx.settle()
        event = ari("ChannelDtmfReceived", channel=channel(MAIN), digit="1", duration_ms=80)
        at.node.on_event(0, replace(event, duration_ms=None))
        assert at.scene.shard.calls == {}
        assert at.scene.pbx.lines[-1] == HANGUP
