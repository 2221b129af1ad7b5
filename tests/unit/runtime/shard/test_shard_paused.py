"""A paused shard, and calls that are recovered on it."""

from engine.ari.request import Reply
from engine.calls.model.call_states import Ending
from engine.calls.model.commands import Originate, StartHoldMusic
from engine.calls.model.events import LegAnswered, LegRinging
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.requests import HangupRequested, HoldRequested
from engine.calls.model.storage_format import decode_stored_call
from tests.harness.calls.builders import CLIPS, MAIN, outbound, say
from tests.harness.runtime.recording_pbx import LOST
from tests.harness.runtime.shard_scene import HANGUP, ORIGINATE, ShardScene


def test_a_paused_shard_buffers_events_and_stops_deadlines() -> None:
    """While the node is disconnected nothing is concluded; resume processes the buffer."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound())
    scene.pbx.settle()
    scene.shard.pause()
    scene.shard.pause()
    assert scene.shard.is_paused
    before = live_call.call
    scene.shard.feed(live_call, LegRinging(MAIN))
    scene.clock.pass_ms(60_000)
    assert live_call.call is before
    scene.shard.resume()
    assert live_call.call.status == "ringing"
    scene.clock.pass_ms(1)
    assert scene.pbx.lines[-1] == HANGUP


def test_a_request_to_a_paused_shard_is_stored_at_once() -> None:
    """A request is acknowledged only after its commit, even if the node is disconnected."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound())
    scene.pbx.settle()
    scene.shard.pause()
    stored: list[bool] = []
    scene.writer.at_once = False
    scene.shard.request(live_call, HangupRequested("api"), lambda: stored.append(True))
    assert isinstance(decode_stored_call(scene.writer.changes[-1].state).call.state, Ending)
    assert stored == []
    scene.writer.commit()
    assert stored == [True]
    scene.clock.pass_ms(60_000)
    assert scene.pbx.lines == [ORIGINATE, HANGUP]
    assert scene.shard.calls == {live_call.call.id: live_call}


def test_a_prompt_committed_during_a_pause_is_played_once() -> None:
    """The recovery has not seen it in its snapshot, and requests it."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound(say()))
    scene.pbx.settle()
    scene.shard.feed(live_call, LegAnswered(MAIN))
    fetch, done = scene.io.running[0]
    assert isinstance(fetch, FetchMedia)
    scene.writer.at_once = False
    done(MediaFetched(fetch.request, CLIPS))
    scene.shard.pause()
    scene.writer.commit()
    requests = [line for line in scene.pbx.lines if "/play/" in line]
    assert requests == []
    scene.shard.recover_call(live_call, live_call.outbox.commands, ())
    scene.shard.resume()
    requests = [line for line in scene.pbx.lines if "/play/" in line]
    assert len(requests) == 1


def test_a_snoop_committed_during_a_pause_is_created_once() -> None:
    """The refusal of a second one would be taken for the end of the first."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound({"type": "gather", "data": {"input": ["speech"]}}))
    scene.pbx.settle()
    scene.writer.at_once = False
    scene.shard.feed(live_call, LegAnswered(MAIN))
    scene.shard.pause()
    scene.writer.commit()
    scene.shard.recover_call(live_call, live_call.outbox.commands, ())
    scene.pbx.settle()
    requests = [line for line in scene.pbx.lines if "/snoop/" in line]
    assert len(requests) == 1


def test_a_new_generation_ignores_earlier_replies() -> None:
    """A late reply to a request before the recovery moves no queue."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound())
    reply_to = scene.pbx.sent.pop()
    scene.shard.recover_call(live_call, live_call.outbox.commands, ())
    reply_to.done(Reply(500))
    assert live_call.is_busy
    assert [type(each) for each in live_call.outbox.commands] == [Originate]
    assert scene.pbx.lines == [ORIGINATE, f"GET channels/{MAIN}"]
    scene.pbx.reply()
    assert live_call.outbox.commands == ()


def test_a_recovery_does_not_preempt_a_commit() -> None:
    """Commands that wait for their commit run neither before it nor twice."""
    scene = ShardScene()
    scene.writer.at_once = False
    live_call = scene.shard.start_call(outbound())
    scene.shard.recover_call(live_call, live_call.outbox.commands, ())
    assert scene.pbx.lines == []
    assert [type(each) for each in live_call.outbox.commands] == [Originate]
    scene.writer.commit()
    assert scene.pbx.lines == [ORIGINATE]
    scene.pbx.settle()
    assert live_call.outbox.commands == ()


def test_an_obsolete_uncommitted_command_is_dropped() -> None:
    """A prompt that was over before its commit counts as played: it is not played."""
    scene = ShardScene()
    scene.writer.at_once = False
    live_call = scene.shard.start_call(outbound())
    scene.shard.recover_call(live_call, (), ())
    scene.writer.commit()
    assert scene.pbx.lines == []
    assert live_call.outbox.commands == ()


def test_a_repeated_command_does_not_replace_a_dropped_one() -> None:
    """Obsolete music is not started; music that is started later comes last, and stays."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound({"type": "gather", "data": {}}))
    scene.shard.feed(live_call, LegAnswered(MAIN))
    scene.pbx.settle()
    scene.writer.at_once = False
    scene.pbx.lines.clear()
    scene.shard.feed(live_call, HoldRequested(MAIN, held=True))
    scene.shard.feed(live_call, HoldRequested(MAIN, held=False))
    redo = tuple(each for each in live_call.outbox.commands if not isinstance(each, StartHoldMusic))
    scene.shard.recover_call(live_call, redo, ())
    scene.shard.feed(live_call, HoldRequested(MAIN, held=True))
    scene.writer.commit()
    scene.pbx.settle()
    assert scene.pbx.lines == [f"DELETE channels/{MAIN}/moh", f"POST channels/{MAIN}/moh"]


def test_a_lost_reply_keeps_the_command() -> None:
    """Status 0: it may or may not have been executed. The command stays for the recovery."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound())
    scene.pbx.reply(LOST)
    assert scene.host.lost_replies == 1
    assert [type(each) for each in live_call.outbox.commands] == [Originate]
