"""Doing what calls want: one request after another for each call, hangups at once."""

from engine.ari.request import Reply
from engine.calls.model.commands import (
    AddToBridge,
    Dial,
    EmitEvent,
    Hangup,
    StartRinging,
    StopRinging,
)
from engine.calls.model.events import BridgeFailed, LegAnswered, LegCreated
from engine.calls.model.io_commands import PrefetchMedia
from engine.calls.model.state import Bridged
from engine.runtime.shard.actor import Actor
from tests.unit.calls.harness.builders import ID, MAIN, dialing_call
from tests.unit.runtime.harness.executor_bench import ExecutorBench
from tests.unit.runtime.harness.recording_pbx import LOST, OK
from tests.unit.runtime.harness.shard_bench import ShardBench
from wire.media import Speech


def test_a_calls_requests_go_one_after_another() -> None:
    """The next is sent when the one before has its reply, whatever the reply."""
    bench = ExecutorBench(StartRinging(MAIN), StopRinging(MAIN))
    assert bench.pbx.lines == [f"POST channels/{MAIN}/ring"]
    bench.pbx.reply(Reply(412))
    assert bench.pbx.lines[-1] == f"DELETE channels/{MAIN}/ring"
    bench.pbx.reply()
    assert not bench.actor.is_busy
    assert bench.actor.outbox == []


def test_a_hangup_waits_for_nothing() -> None:
    """It is sent at once, though another request is on its way, and holds up none."""
    bench = ExecutorBench(StartRinging(MAIN), StopRinging(MAIN))
    bench.executor.execute(bench.actor, (Hangup(MAIN, 16),))
    assert bench.pbx.lines == [f"POST channels/{MAIN}/ring", f"DELETE channels/{MAIN}"]
    hangup = bench.pbx.sent.pop()
    hangup.done(Reply(404))
    assert bench.actor.is_busy
    assert len(bench.pbx.sent) == 1


def test_a_bridge_is_two_requests() -> None:
    """It is made, or was made before, then its legs join; a failure of either is told."""
    bridge = AddToBridge(f"{ID}.b1", (MAIN, f"{ID}.l1"))
    for first, second, failed in (
        (OK, OK, False),
        (Reply(409), Reply(204), False),
        (Reply(500, b'{"message":"no"}'), None, True),
        (OK, Reply(409), True),
        (OK, Reply(422), True),
    ):
        bench = ExecutorBench(bridge)
        assert bench.pbx.sent[0].may_block
        bench.pbx.reply(first)
        if second is not None:
            bench.pbx.reply(second)
        assert [type(each) for each in bench.events] == ([BridgeFailed] if failed else [])
        assert bench.actor.outbox == []


def test_a_party_is_called_in_one_breath() -> None:
    """The mark and the call go without a pause: a crash between them would leave a silent leg."""
    bench = ExecutorBench(Dial(MAIN, 30), StartRinging(MAIN))
    assert bench.pbx.lines == [f"POST channels/{MAIN}/variable", f"POST channels/{MAIN}/dial"]
    bench.pbx.reply(Reply(204))
    assert bench.actor.is_busy
    bench.pbx.reply(Reply(204))
    assert bench.pbx.lines[-1] == f"POST channels/{MAIN}/ring"
    assert bench.actor.outbox == [StartRinging(MAIN)]


def test_any_lost_reply_is_a_doubt() -> None:
    """Also one whose word is not waited for: what it asked for may not have been done."""
    bench = ExecutorBench(Dial(MAIN, 30))
    bench.pbx.reply(LOST)
    bench.pbx.reply(Reply(204))
    assert bench.lost_replies == [True]
    assert bench.actor.outbox == []


def test_doubt_keeps_the_command() -> None:
    """No reply: the queue stands still until a recovery."""
    bench = ExecutorBench(StartRinging(MAIN), StopRinging(MAIN))
    bench.pbx.reply(LOST)
    assert bench.lost_replies == [True]
    assert bench.pbx.sent == []
    assert len(bench.actor.outbox) == 2


def test_what_needs_no_pbx() -> None:
    """What is told was committed; what is prefetched is handed on and done."""
    story = dialing_call("+4712345678")
    tell = next(each for each in story.commands if isinstance(each, EmitEvent))
    bench = ExecutorBench(tell, PrefetchMedia((Speech("a"),)))
    assert bench.pbx.lines == []
    assert bench.io.prefetched == [Speech("a")]
    assert bench.actor.outbox == [tell]


def test_a_queue_keeps_the_order_of_steps() -> None:
    """What later steps want comes after what earlier ones wanted."""
    world = ShardBench()
    story = dialing_call("+4712345678")
    actor = world.shard.adopt(Actor(story.call))
    world.shard.feed(actor, LegCreated(f"{ID}.l1"))
    world.shard.feed(actor, LegAnswered(f"{ID}.l1"))
    assert isinstance(actor.call.state, Bridged)
    world.pbx.settle()
    assert world.pbx.lines == [
        f"POST channels/{ID}.l1/variable",
        f"POST channels/{ID}.l1/dial",
        f"DELETE channels/{MAIN}/ring",
        f"POST bridges/{ID}.b2",
        f"POST bridges/{ID}.b2/addChannel",
    ]
