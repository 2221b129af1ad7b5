"""Handover of a slot: customers' responses in flight are used, and no request is repeated."""

import asyncio

from engine.calls.model.call_states import AwaitingInstructions
from engine.calls.model.events import LegAnswered, LegEnded, LegRinging
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.io_results import ActionReceived
from engine.runtime.shard.live_call import LiveCall
from tests.unit.calls.harness.builders import HTTPS, MAIN, outbound, say, tree
from tests.unit.runtime.harness.shard_bench import ShardBench, answered_call

WEBHOOK = HTTPS + "/next"


def test_a_response_during_the_handover_is_used() -> None:
    """The next owner finds the call after its webhook, and does not send it again."""
    bench = ShardBench()
    live_call = answered_call(bench, WEBHOOK)
    command, done = bench.io.running[0]
    assert isinstance(command, SendWebhook)
    bench.shard.begin_handover()
    assert bench.shard.is_paused
    done(ActionReceived(command.request, tree(say())))
    assert not isinstance(live_call.call.state, AwaitingInstructions)
    assert [each for each in live_call.outbox if isinstance(each, SendWebhook)] == []
    assert bench.shard.pause_buffer.events == []


def test_a_webhook_that_is_committed_during_the_handover_is_left() -> None:
    """It stays in the outbox: the next owner sends it, once."""
    bench = ShardBench()
    live_call = bench.shard.start_call(outbound(WEBHOOK))
    bench.pbx.settle()
    bench.writer.at_once = False
    bench.shard.feed(live_call, LegAnswered(MAIN))
    bench.shard.begin_handover()
    bench.writer.commit()
    assert bench.io.running == []
    assert [type(each) for each in live_call.outbox] == [SendWebhook]


def test_other_events_wait_for_the_next_owner() -> None:
    """It finds them by comparing the call with the PBX."""
    bench = ShardBench()
    live_call = bench.shard.start_call(outbound(WEBHOOK))
    bench.shard.begin_handover()
    before = live_call.call
    bench.shard.feed(live_call, LegRinging(MAIN))
    assert live_call.call is before


def test_a_response_to_a_shard_that_had_missed_events_is_not_used() -> None:
    """What was missed comes first: the next owner finds it, and sends the webhook again."""
    bench = ShardBench()
    live_call = answered_call(bench, WEBHOOK)
    command, done = bench.io.running[0]
    bench.shard.pause()
    bench.shard.begin_handover()
    before = live_call.call
    done(ActionReceived(command.request, tree(say())))
    assert live_call.call is before


async def test_the_handover_waits_for_every_response() -> None:
    """Responses to calls that have ended count, too."""
    bench = ShardBench()
    calls: list[LiveCall] = [answered_call(bench, WEBHOOK)]
    command, done = bench.io.running[0]
    bench.shard.begin_handover()
    waiting = asyncio.create_task(bench.shard.wait_for_customers())
    await asyncio.sleep(0)
    assert not waiting.done()
    bench.shard.feed(calls[0], LegEnded(MAIN, 16))
    done(ActionReceived(command.request, None))
    await asyncio.wait_for(waiting, 5)


async def test_nothing_in_flight() -> None:
    """The handover goes on at once."""
    bench = ShardBench()
    answered_call(bench)
    bench.shard.begin_handover()
    await asyncio.wait_for(bench.shard.wait_for_customers(), 5)
