"""The desk: from event to commit to command, in that order (design section 3.5)."""

import pytest

from engine.calls.model.codec import decode_stored_call
from engine.calls.model.commands import Originate
from engine.calls.model.events import DigitPressed, LegAnswered, LegEnded, LegRinging
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.io_results import ActionReceived, MediaFetched
from engine.calls.model.requests import HangupRequested
from engine.calls.replay import replay
from engine.runtime.shard.actor import Actor
from engine.store.errors import Overflow
from tests.unit.calls.harness.builders import (
    CHANNEL,
    CLIPS,
    HTTPS,
    ID,
    MAIN,
    inbound,
    outbound,
    say,
)
from tests.unit.runtime.harness.shard_bench import HANGUP, ORIGINATE, ShardBench, answered_call
from wire.media import Speech


def test_nothing_is_done_before_the_commit() -> None:
    """One atomic commit holds the new state and the commands; then they are performed."""
    world = ShardBench()
    world.writer.at_once = False
    stored: list[bool] = []
    actor = world.shard.start_call(outbound(say()), lambda: stored.append(True))
    assert world.pbx.lines == []
    assert stored == []
    record = decode_stored_call(world.writer.changes[0].state)
    assert record.call == actor.call
    assert any(isinstance(each, Originate) for each in record.outbox)
    world.writer.commit()
    assert stored == [True]
    assert world.pbx.lines == [ORIGINATE]
    assert world.io.prefetched == [Speech("hello")]


def test_what_nothing_is_done_upon_need_not_hurry() -> None:
    """A change that only tells or notes something goes with the next that wants something done."""
    world = ShardBench()
    actor = world.shard.start_call(outbound(say()))
    world.pbx.settle()
    world.shard.feed(actor, LegRinging(MAIN))
    world.shard.feed(actor, LegAnswered(MAIN))
    assert world.writer.urgent == [True, False, True]


def test_what_is_done_leaves_the_outbox() -> None:
    """A command stays until it is done; the next commit shows it gone."""
    world = ShardBench()
    actor = world.shard.start_call(outbound())
    assert [type(each) for each in actor.outbox] == [Originate]
    world.pbx.reply()
    assert actor.outbox == []


def test_the_log_tells_the_whole_story() -> None:
    """The log starts with the call as opened; every event that counted follows, numbered."""
    world = ShardBench()
    actor = answered_call(world)
    world.shard.feed(actor, LegEnded(MAIN, 16))
    lines: list[bytes] = []
    for change in world.writer.changes:
        assert change.seq == len(lines)
        lines += change.log
    assert list(replay(lines))[-1].call == actor.call
    assert [change.live for change in world.writer.changes][-2:] == [True, False]
    assert len(world.writer.changes[-1].events) == 1


def test_an_event_that_changes_nothing_costs_nothing() -> None:
    """Commit only what changed."""
    world = ShardBench()
    actor = answered_call(world)
    before = len(world.writer.changes)
    world.shard.feed(actor, LegRinging(MAIN))
    world.shard.feed(actor, DigitPressed(MAIN, "1", 0))
    assert len(world.writer.changes) == before


def test_audio_at_hand_is_played_in_the_same_step() -> None:
    """No errand for a clip that is known; the log has both events, so a replay is the same."""
    world = ShardBench()
    world.io.clips[Speech("hello")] = CLIPS[0]
    actor = answered_call(world)
    assert world.io.running == []
    assert world.pbx.lines[-1].startswith(f"POST channels/{MAIN}/play/")
    assert len(world.writer.changes[-1].log) == 2
    lines = [line for change in world.writer.changes for line in change.log]
    assert list(replay(lines))[-1].call == actor.call


def test_audio_that_is_not_at_hand_is_fetched() -> None:
    """An errand ends in one event, and leaves the outbox."""
    world = ShardBench()
    actor = answered_call(world)
    errand, done = world.io.running[0]
    assert isinstance(errand, FetchMedia)
    assert errand in actor.outbox
    done(MediaFetched(errand.request, CLIPS))
    assert errand not in actor.outbox
    assert world.pbx.lines[-1].startswith(f"POST channels/{MAIN}/play/")


def test_an_errand_that_ends_after_the_call_is_ignored() -> None:
    """A webhook may answer long after the caller has gone."""
    world = ShardBench()
    actor = answered_call(world, HTTPS)
    errand, done = world.io.running[0]
    assert isinstance(errand, SendWebhook)
    world.shard.feed(actor, LegEnded(MAIN, 16))
    changes = len(world.writer.changes)
    done(ActionReceived(errand.request, None))
    assert len(world.writer.changes) == changes
    assert world.shard.actors == {}


def test_a_call_is_found_by_its_channels() -> None:
    """Ours carry the call's id; Asterisk's own are known from the arrival."""
    world = ShardBench()
    going, coming = world.shard.start_call(outbound()), world.shard.adopt(Actor(inbound()))
    assert world.shard.find_by_channel(f"{ID}.p7") in {going, coming}
    assert world.shard.find_by_channel(CHANNEL) is coming
    assert world.shard.find_by_channel("1700000000.8") is None


def test_a_fault_in_one_call_ends_that_call_alone() -> None:
    """When a step can't be stored, the call's legs are hung up and the others go on."""
    world = ShardBench()
    actor = answered_call(world)
    world.writer.refusal = Overflow("full")
    world.shard.feed(actor, HangupRequested("api"))
    assert world.shard.actors == {}
    assert world.pbx.lines[-1] == HANGUP
    assert world.clock.armed == []


def test_dismissing_a_channel() -> None:
    """A channel that is no call's is hung up with a cause."""
    world = ShardBench()
    world.shard.context.hang_up_channel("1700000000.9", 34)
    assert world.pbx.sent[-1].request.query == (("reason_code", "34"),)
    world.pbx.settle()


@pytest.mark.parametrize(("healthy", "overloaded"), [(False, False), (True, True)])
def test_no_new_call_while_it_cannot_be_stored(healthy: bool, overloaded: bool) -> None:
    """Redis gone, or too much waiting: the desk says so."""
    world = ShardBench()
    assert world.shard.can_store
    world.writer.is_healthy, world.writer.is_overloaded = healthy, overloaded
    assert not world.shard.can_store
