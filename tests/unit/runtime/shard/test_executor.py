"""Command execution: a call's requests in sequence, hangups at once."""

from engine.ari.request import Reply
from engine.calls.model.call_states import Bridged
from engine.calls.model.commands import (
    AddToBridge,
    Dial,
    EmitEvent,
    Hangup,
    Mute,
    Play,
    StartRinging,
    StartVoicemail,
    StopPlayback,
    StopRinging,
    Unmute,
)
from engine.calls.model.events import BridgeFailed, LegAnswered, LegCreated
from engine.calls.model.io_commands import PrefetchMedia
from engine.runtime.shard.live_call import LiveCall
from tests.unit.calls.harness.builders import ID, MAIN, dialing_call
from tests.unit.runtime.harness.executor_bench import ExecutorBench
from tests.unit.runtime.harness.recording_pbx import LOST, OK
from tests.unit.runtime.harness.shard_bench import ShardBench
from wire.media import Speech


def test_a_calls_requests_are_sequential() -> None:
    """Each is sent after the reply to the previous one, whatever the reply."""
    bench = ExecutorBench(StartRinging(MAIN), StopRinging(MAIN))
    assert bench.pbx.lines == [f"POST channels/{MAIN}/ring"]
    bench.pbx.reply(Reply(412))
    assert bench.pbx.lines[-1] == f"DELETE channels/{MAIN}/ring"
    bench.pbx.reply()
    assert not bench.live_call.is_busy
    assert bench.live_call.outbox == []


def test_a_prompt_follows_a_stopped_one_at_once() -> None:
    """Stop, mute and play need no reply in between: the phone hears no gap."""
    stop, mute, play = StopPlayback("p1"), Mute(MAIN, "in"), Play(MAIN, "p2", (), 0)
    bench = ExecutorBench(stop, mute, play, StartRinging(MAIN))
    assert bench.pbx.lines == [
        "DELETE playbacks/p1",
        f"POST channels/{MAIN}/mute",
        f"POST channels/{MAIN}/play/p2",
    ]
    bench.pbx.reply(Reply(404))
    bench.pbx.reply()
    assert bench.live_call.outbox == [stop, mute, play, StartRinging(MAIN)]
    bench.pbx.reply()
    assert bench.live_call.outbox == [StartRinging(MAIN)]
    bench.pbx.settle()
    assert bench.live_call.outbox == []


def test_a_burst_is_repeated_as_a_whole() -> None:
    """Else a mute that is sent again could follow the unmute that came after it."""
    commands = Mute(MAIN, "in"), Unmute(MAIN, "in"), Mute(MAIN, "out")
    bench = ExecutorBench(*commands)
    bench.pbx.reply(LOST)
    bench.live_call.recover(commands)
    bench.pbx.settle()
    assert bench.lost_replies == [True]
    assert bench.live_call.outbox == [*commands]


def test_a_prompt_waits_where_requests_may_overtake() -> None:
    """Over HTTP, a mute that comes after the prompt would wait for its end."""
    bench = ExecutorBench()
    bench.pbx.keeps_order = False
    commands = StopPlayback("p1"), Mute(MAIN, "in"), Play(MAIN, "p2", (), 0)
    bench.executor.execute(bench.live_call, commands)
    assert bench.pbx.lines == ["DELETE playbacks/p1"]
    bench.pbx.reply()
    assert bench.pbx.lines[1:] == [f"POST channels/{MAIN}/mute"]


def test_a_bridge_waits_for_a_stopped_prompt() -> None:
    """Its request takes another connection, where it could overtake the stop."""
    bench = ExecutorBench(StopPlayback("p1"), AddToBridge(f"{ID}.b1", (MAIN,)))
    assert bench.pbx.lines == ["DELETE playbacks/p1"]
    assert bench.live_call.is_busy
    bench.pbx.reply()
    assert bench.pbx.lines[-1] == f"POST bridges/{ID}.b1"


def test_a_hangup_waits_for_nothing() -> None:
    """It is sent at once, beside a request in flight, and delays none."""
    bench = ExecutorBench(StartRinging(MAIN), StopRinging(MAIN))
    bench.executor.execute(bench.live_call, (Hangup(MAIN, 16),))
    assert bench.pbx.lines == [f"POST channels/{MAIN}/ring", f"DELETE channels/{MAIN}"]
    hangup = bench.pbx.sent.pop()
    hangup.done(Reply(404))
    assert bench.live_call.is_busy
    assert len(bench.pbx.sent) == 1


def test_a_bridge_is_two_requests() -> None:
    """It is created, or existed, then its legs are added; a failure of either is an event."""
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
        assert bench.live_call.outbox == []


def test_a_party_is_marked_and_dialled_at_once() -> None:
    """A crash between mark and dial would leave a silent leg."""
    bench = ExecutorBench(Dial(MAIN, 30), StartRinging(MAIN))
    assert bench.pbx.lines == [f"POST channels/{MAIN}/variable", f"POST channels/{MAIN}/dial"]
    bench.pbx.reply(Reply(204))
    assert bench.live_call.is_busy
    bench.pbx.reply(Reply(204))
    assert bench.pbx.lines[-1] == f"POST channels/{MAIN}/ring"
    assert bench.live_call.outbox == [StartRinging(MAIN)]


def test_a_dial_waits_for_its_mark_where_requests_may_overtake() -> None:
    """Over HTTP the mark alone can be lost: recovery would dial again, which ends the leg."""
    for reply, is_dialled in ((Reply(204), True), (LOST, False)):
        bench = ExecutorBench()
        bench.pbx.keeps_order = False
        bench.executor.execute(bench.live_call, (Dial(MAIN, 30),))
        mark, dial = f"POST channels/{MAIN}/variable", f"POST channels/{MAIN}/dial"
        assert bench.pbx.lines == [mark]
        bench.pbx.reply(reply)
        assert bench.pbx.lines == ([mark, dial] if is_dialled else [mark])
        assert bench.lost_replies == ([] if is_dialled else [True])


def test_a_voicemail_where_requests_may_overtake() -> None:
    """Each waits for the one before; even if one fails, its bridge is destroyed at last."""
    bench = ExecutorBench()
    bench.pbx.keeps_order = False
    bench.executor.execute(bench.live_call, (StartVoicemail(MAIN, "v", 60, 5, "#"),))
    bridge = f"bridges/{MAIN}b"
    expected = [
        f"POST {bridge}",
        f"POST {bridge}/addChannel",
        f"POST {bridge}/removeChannel",
        f"DELETE {bridge}",
        f"POST channels/{MAIN}/record",
    ]
    for sent in range(1, len(expected) + 1):
        assert bench.pbx.lines == expected[:sent]
        bench.pbx.reply(Reply(404))
    assert not bench.live_call.is_busy


def test_any_lost_reply_is_reported() -> None:
    """Even of a pipelined request: it may not have been executed."""
    bench = ExecutorBench(Dial(MAIN, 30))
    bench.pbx.reply(LOST)
    bench.pbx.reply(Reply(204))
    assert bench.lost_replies == [True]
    assert bench.live_call.outbox == []


def test_a_reply_that_an_earlier_generation_lost_is_ignored() -> None:
    """The recovery that began the new generation has asked the PBX since."""
    bench = ExecutorBench(Dial(MAIN, 30))
    bench.live_call.recover(())
    bench.pbx.reply(LOST)
    bench.pbx.reply(LOST)
    assert bench.lost_replies == []


def test_a_lost_reply_keeps_the_command() -> None:
    """The queue waits for a recovery."""
    bench = ExecutorBench(StartRinging(MAIN), StopRinging(MAIN))
    bench.pbx.reply(LOST)
    assert bench.lost_replies == [True]
    assert bench.pbx.sent == []
    assert len(bench.live_call.outbox) == 2


def test_commands_without_pbx() -> None:
    """Events are emitted by the commit; a prefetch is passed on and acknowledged."""
    story = dialing_call("+4712345678")
    emit = next(each for each in story.commands if isinstance(each, EmitEvent))
    bench = ExecutorBench(emit, PrefetchMedia((Speech("a"),)))
    assert bench.pbx.lines == []
    assert bench.io.prefetched == [Speech("a")]
    assert bench.live_call.outbox == [emit]


def test_a_queue_keeps_the_order_of_steps() -> None:
    """Commands of later steps follow those of earlier steps."""
    bench = ShardBench()
    story = dialing_call("+4712345678")
    live_call = bench.shard.adopt(LiveCall(story.call))
    bench.shard.feed(live_call, LegCreated(f"{ID}.l1"))
    bench.shard.feed(live_call, LegAnswered(f"{ID}.l1"))
    assert isinstance(live_call.call.state, Bridged)
    bench.pbx.settle()
    assert bench.pbx.lines == [
        f"POST channels/{ID}.l1/variable",
        f"POST channels/{ID}.l1/dial",
        f"GET channels/{ID}.l1/rtp_statistics",
        f"DELETE channels/{MAIN}/ring",
        f"POST bridges/{ID}.b2",
        f"POST bridges/{ID}.b2/addChannel",
    ]
