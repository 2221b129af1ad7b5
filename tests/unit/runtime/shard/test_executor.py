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
    StartRecording,
    StartRinging,
    StartVoicemail,
    StopPlayback,
    StopRinging,
    Unmute,
)
from engine.calls.model.events import BridgeFailed, LegAnswered, LegCreated
from engine.calls.model.io_commands import PrefetchMedia
from engine.calls.model.stream_commands import StartStream, StopStream
from engine.calls.model.stream_events import StreamEnded
from engine.runtime.shard.live_call import LiveCall
from tests.harness.calls.builders import ID, MAIN, dialing_call
from tests.harness.runtime.executor_scene import ExecutorScene
from tests.harness.runtime.recording_pbx import LOST, OK
from tests.harness.runtime.shard_scene import ShardScene
from wire.media import Speech
from wire.verbs import StreamData


def test_a_calls_requests_are_sequential() -> None:
    """Each is sent after the reply to the previous one, whatever the reply."""
    scene = ExecutorScene(StartRinging(MAIN), StopRinging(MAIN))
    assert scene.pbx.lines == [f"POST channels/{MAIN}/ring"]
    scene.pbx.reply(Reply(412))
    assert scene.pbx.lines[-1] == f"DELETE channels/{MAIN}/ring"
    scene.pbx.reply()
    assert not scene.live_call.is_busy
    assert scene.live_call.outbox.commands == ()


def test_a_prompt_follows_a_stopped_one_at_once() -> None:
    """Stop, mute and play need no reply in between: the phone hears no gap."""
    stop, mute, play = StopPlayback("p1"), Mute(MAIN, "in"), Play(MAIN, "p2", (), 0)
    scene = ExecutorScene(stop, mute, play, StartRinging(MAIN))
    assert scene.pbx.lines == [
        "DELETE playbacks/p1",
        f"POST channels/{MAIN}/mute",
        f"POST channels/{MAIN}/play/p2",
    ]
    scene.pbx.reply(Reply(404))
    scene.pbx.reply()
    assert list(scene.live_call.outbox.commands) == [stop, mute, play, StartRinging(MAIN)]
    scene.pbx.reply()
    assert list(scene.live_call.outbox.commands) == [StartRinging(MAIN)]
    scene.pbx.settle()
    assert scene.live_call.outbox.commands == ()


def test_a_burst_is_repeated_as_a_whole() -> None:
    """Else a mute that is sent again could follow the unmute that came after it."""
    commands = Mute(MAIN, "in"), Unmute(MAIN, "in"), Mute(MAIN, "out")
    scene = ExecutorScene(*commands)
    scene.pbx.reply(LOST)
    scene.live_call.recover(commands)
    scene.pbx.settle()
    assert scene.lost_replies == [True]
    assert scene.live_call.outbox.commands == commands


def test_a_prompt_waits_where_requests_may_overtake() -> None:
    """Over HTTP, a mute that comes after the prompt would wait for its end."""
    scene = ExecutorScene()
    scene.pbx.keeps_order = False
    commands = StopPlayback("p1"), Mute(MAIN, "in"), Play(MAIN, "p2", (), 0)
    scene.execute(*commands)
    assert scene.pbx.lines == ["DELETE playbacks/p1"]
    scene.pbx.reply()
    assert scene.pbx.lines[1:] == [f"POST channels/{MAIN}/mute"]


def test_a_bridge_waits_for_a_stopped_prompt() -> None:
    """Its request takes another connection, where it could overtake the stop."""
    scene = ExecutorScene(StopPlayback("p1"), AddToBridge(f"{ID}.b1", (MAIN,)))
    assert scene.pbx.lines == ["DELETE playbacks/p1"]
    assert scene.live_call.is_busy
    scene.pbx.reply()
    assert scene.pbx.lines[-1] == f"POST bridges/{ID}.b1"


def test_a_hangup_waits_for_nothing() -> None:
    """It is sent at once, beside a request in flight, and delays none."""
    scene = ExecutorScene(StartRinging(MAIN), StopRinging(MAIN))
    scene.execute(Hangup(MAIN, 16))
    assert scene.pbx.lines == [f"POST channels/{MAIN}/ring", f"DELETE channels/{MAIN}"]
    hangup = scene.pbx.sent.pop()
    hangup.done(Reply(404))
    assert scene.live_call.is_busy
    assert len(scene.pbx.sent) == 1


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
        scene = ExecutorScene(bridge)
        assert scene.pbx.sent[0].may_block
        scene.pbx.reply(first)
        if second is not None:
            scene.pbx.reply(second)
        assert [type(each) for each in scene.events] == ([BridgeFailed] if failed else [])
        assert scene.live_call.outbox.commands == ()


def test_a_party_is_marked_and_dialled_at_once() -> None:
    """A crash between mark and dial would leave a silent leg."""
    scene = ExecutorScene(Dial(MAIN, 30), StartRinging(MAIN))
    assert scene.pbx.lines == [f"POST channels/{MAIN}/variable", f"POST channels/{MAIN}/dial"]
    scene.pbx.reply(Reply(204))
    assert scene.live_call.is_busy
    scene.pbx.reply(Reply(204))
    assert scene.pbx.lines[-1] == f"POST channels/{MAIN}/ring"
    assert scene.live_call.outbox.commands == (StartRinging(MAIN),)


def test_a_dial_waits_for_its_mark_where_requests_may_overtake() -> None:
    """Over HTTP the mark alone can be lost: recovery would dial again, which ends the leg."""
    for reply, is_dialled in ((Reply(204), True), (LOST, False)):
        scene = ExecutorScene()
        scene.pbx.keeps_order = False
        scene.execute(Dial(MAIN, 30))
        mark, dial = f"POST channels/{MAIN}/variable", f"POST channels/{MAIN}/dial"
        assert scene.pbx.lines == [mark]
        scene.pbx.reply(reply)
        assert scene.pbx.lines == ([mark, dial] if is_dialled else [mark])
        assert scene.lost_replies == ([] if is_dialled else [True])


def test_a_voicemail_where_requests_may_overtake() -> None:
    """Each waits for the one before; even if one fails, its bridge is destroyed at last."""
    scene = ExecutorScene()
    scene.pbx.keeps_order = False
    scene.execute(StartVoicemail(MAIN, "v", 60, 5, "#"))
    bridge = f"bridges/{MAIN}b"
    expected = [
        f"POST {bridge}",
        f"POST {bridge}/addChannel",
        f"POST {bridge}/removeChannel",
        f"DELETE {bridge}",
        f"POST channels/{MAIN}/record",
    ]
    for sent in range(1, len(expected) + 1):
        assert scene.pbx.lines == expected[:sent]
        scene.pbx.reply(Reply(404))
    assert not scene.live_call.is_busy


def test_any_lost_reply_is_reported() -> None:
    """Even of a pipelined request: it may not have been executed."""
    scene = ExecutorScene(Dial(MAIN, 30))
    scene.pbx.reply(LOST)
    scene.pbx.reply(Reply(204))
    assert scene.lost_replies == [True]
    assert scene.live_call.outbox.commands == ()


def test_a_reply_that_an_earlier_generation_lost_is_ignored() -> None:
    """The recovery that began the new generation has asked the PBX since."""
    scene = ExecutorScene(Dial(MAIN, 30))
    scene.live_call.recover(())
    scene.pbx.reply(LOST)
    scene.pbx.reply(LOST)
    assert scene.lost_replies == []


def test_a_lost_reply_keeps_the_command() -> None:
    """The queue waits for a recovery."""
    scene = ExecutorScene(StartRinging(MAIN), StopRinging(MAIN))
    scene.pbx.reply(LOST)
    assert scene.lost_replies == [True]
    assert scene.pbx.sent == []
    assert len(scene.live_call.outbox) == 2


def test_commands_without_pbx() -> None:
    """Events are emitted by the commit; a prefetch is passed on and acknowledged."""
    story = dialing_call("+4712345678")
    emit = next(each for each in story.commands if isinstance(each, EmitEvent))
    scene = ExecutorScene(emit, PrefetchMedia((Speech("a"),)))
    assert scene.pbx.lines == []
    assert scene.io.prefetched == [Speech("a")]
    assert scene.live_call.outbox.commands == ()


def test_a_queue_keeps_the_order_of_steps() -> None:
    """Commands of later steps follow those of earlier steps."""
    scene = ShardScene()
    story = dialing_call("+4712345678")
    live_call = scene.shard.adopt(LiveCall(story.call))
    scene.shard.feed(live_call, LegCreated(f"{ID}.l1"))
    scene.shard.feed(live_call, LegAnswered(f"{ID}.l1"))
    assert isinstance(live_call.call.state, Bridged)
    scene.pbx.settle()
    assert scene.pbx.lines == [
        f"POST channels/{ID}.l1/variable",
        f"POST channels/{ID}.l1/dial",
        f"GET channels/{ID}.l1/rtp_statistics",
        f"DELETE channels/{MAIN}/ring",
        f"POST bridges/{ID}.b2",
        f"POST bridges/{ID}.b2/addChannel",
    ]


def test_what_this_engine_can_not_do() -> None:
    """Without gateways no stream starts, and without an archive nothing is recorded."""
    start = StartStream("w1", StreamData("wss://bot.example/"))
    scene = ExecutorScene(start, StopStream("w2"), StartRecording(MAIN, "a"))
    (ended,) = scene.events
    assert isinstance(ended, StreamEnded)
    assert (ended.stream, ended.reason) == ("w1", "no-gateway")
    assert scene.live_call.outbox.commands == ()
