"""A desk that is held, and calls that begin another life on it."""

from engine.ari.request import Reply
from engine.calls.model.codec import decode_stored_call
from engine.calls.model.commands import Originate, StartHoldMusic
from engine.calls.model.events import LegAnswered, LegRinging
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.requests import HangupRequested, HoldRequested
from engine.calls.model.state import Ending
from tests.unit.calls.harness.builders import CLIPS, MAIN, outbound, say
from tests.unit.runtime.harness.recording_pbx import LOST
from tests.unit.runtime.harness.shard_bench import HANGUP, ORIGINATE, ShardBench


def test_a_held_desk_keeps_events_and_lets_no_time_pass() -> None:
    """While the node can't be heard nothing is concluded; what came is taken on release."""
    world = ShardBench()
    actor = world.shard.start_call(outbound())
    world.pbx.settle()
    world.shard.pause()
    world.shard.pause()
    assert world.shard.is_paused
    before = actor.call
    world.shard.feed(actor, LegRinging(MAIN))
    world.clock.pass_ms(60_000)
    assert actor.call is before
    world.shard.resume()
    assert actor.call.status == "ringing"
    world.clock.pass_ms(1)
    assert world.pbx.lines[-1] == HANGUP


def test_what_is_asked_of_a_held_desk_is_stored_at_once() -> None:
    """Nothing is concluded about the node, but who asks is not told of what could be lost."""
    world = ShardBench()
    actor = world.shard.start_call(outbound())
    world.pbx.settle()
    world.shard.pause()
    stored: list[bool] = []
    world.writer.at_once = False
    world.shard.request(actor, HangupRequested("api"), lambda: stored.append(True))
    assert isinstance(decode_stored_call(world.writer.changes[-1].state).call.state, Ending)
    assert stored == []
    world.writer.commit()
    assert stored == [True]
    world.clock.pass_ms(60_000)
    assert world.pbx.lines == [ORIGINATE, HANGUP]
    assert world.shard.actors == {actor.call.id: actor}


def test_a_prompt_that_is_stored_while_the_desk_is_held_is_heard_once() -> None:
    """The recovery has looked by then, and not seen it: it is the one that asks for it."""
    world = ShardBench()
    actor = world.shard.start_call(outbound(say()))
    world.pbx.settle()
    world.shard.feed(actor, LegAnswered(MAIN))
    fetch, done = world.io.running[0]
    assert isinstance(fetch, FetchMedia)
    world.writer.at_once = False
    done(MediaFetched(fetch.request, CLIPS))
    world.shard.pause()
    world.writer.commit()
    asked = [line for line in world.pbx.lines if "/play/" in line]
    assert asked == []
    world.shard.recover_call(actor, tuple(actor.outbox), ())
    world.shard.resume()
    asked = [line for line in world.pbx.lines if "/play/" in line]
    assert len(asked) == 1


def test_a_new_life_forgets_replies_to_the_old_one() -> None:
    """After a recovery, a late reply to an earlier request moves no queue."""
    world = ShardBench()
    actor = world.shard.start_call(outbound())
    old = world.pbx.sent.pop()
    world.shard.recover_call(actor, tuple(actor.outbox), ())
    old.done(Reply(500))
    assert actor.is_busy
    assert [type(each) for each in actor.outbox] == [Originate]
    assert world.pbx.lines == [ORIGINATE, ORIGINATE]
    world.pbx.reply()
    assert actor.outbox == []


def test_a_recovery_does_not_forestall_a_commit() -> None:
    """What its step's commit will bring is not done before it, nor twice."""
    world = ShardBench()
    world.writer.at_once = False
    actor = world.shard.start_call(outbound())
    world.shard.recover_call(actor, tuple(actor.outbox), ())
    assert world.pbx.lines == []
    assert [type(each) for each in actor.outbox] == [Originate]
    world.writer.commit()
    assert world.pbx.lines == [ORIGINATE]
    world.pbx.settle()
    assert (actor.outbox, actor.uncommitted) == ([], [])


def test_what_waits_for_the_store_and_is_not_due_any_more_is_not_done() -> None:
    """A prompt whose time was over before it could be stored counts as heard: it is not played."""
    world = ShardBench()
    world.writer.at_once = False
    actor = world.shard.start_call(outbound())
    world.shard.recover_call(actor, (), ())
    world.writer.commit()
    assert world.pbx.lines == []
    assert (actor.outbox, actor.uncommitted) == ([], [])


def test_what_is_wanted_again_is_not_done_in_place_of_what_was_left_out() -> None:
    """Music that nobody needs any more is not begun; what is wanted since comes last, and stays."""
    world = ShardBench()
    actor = world.shard.start_call(outbound({"type": "gather", "data": {}}))
    world.shard.feed(actor, LegAnswered(MAIN))
    world.pbx.settle()
    world.writer.at_once = False
    world.pbx.lines.clear()
    world.shard.feed(actor, HoldRequested(MAIN, held=True))
    world.shard.feed(actor, HoldRequested(MAIN, held=False))
    left = tuple(each for each in actor.outbox if not isinstance(each, StartHoldMusic))
    world.shard.recover_call(actor, left, ())
    world.shard.feed(actor, HoldRequested(MAIN, held=True))
    world.writer.commit()
    world.pbx.settle()
    assert world.pbx.lines == [f"DELETE channels/{MAIN}/moh", f"POST channels/{MAIN}/moh"]


def test_no_reply_is_doubt() -> None:
    """Status 0: it may or may not have been done. The command stays; a recovery finds out."""
    world = ShardBench()
    actor = world.shard.start_call(outbound())
    world.pbx.reply(LOST)
    assert world.host.lost_replies == 1
    assert [type(each) for each in actor.outbox] == [Originate]
