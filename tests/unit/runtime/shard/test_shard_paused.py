"""A paused shard, and calls that are recovered on it."""

from engine.ari.request import Reply
from engine.calls.model.call_states import Ending
from engine.calls.model.commands import Originate, StartHoldMusic
from engine.calls.model.events import LegAnswered, LegRinging
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.requests import HangupRequested, HoldRequested
from engine.calls.model.storage_format import decode_stored_call
from tests.unit.calls.harness.builders import CLIPS, MAIN, outbound, say
from tests.unit.runtime.harness.recording_pbx import LOST
from tests.unit.runtime.harness.shard_bench import HANGUP, ORIGINATE, ShardBench


def test_a_paused_shard_buffers_events_and_stops_deadlines() -> None:
    """While the node is disconnected nothing is concluded; resume processes the buffer."""
    bench = ShardBench()
    live_call = bench.shard.start_call(outbound())
    bench.pbx.settle()
    bench.shard.pause()
    bench.shard.pause()
    assert bench.shard.is_paused
    before = live_call.call
    bench.shard.feed(live_call, LegRinging(MAIN))
    bench.clock.pass_ms(60_000)
    assert live_call.call is before
    bench.shard.resume()
    assert live_call.call.status == "ringing"
    bench.clock.pass_ms(1)
    assert bench.pbx.lines[-1] == HANGUP


def test_a_request_to_a_paused_shard_is_stored_at_once() -> None:
    """A request is acknowledged only after its commit, even if the node is disconnected."""
    bench = ShardBench()
    live_call = bench.shard.start_call(outbound())
    bench.pbx.settle()
    bench.shard.pause()
    stored: list[bool] = []
    bench.writer.at_once = False
    bench.shard.request(live_call, HangupRequested("api"), lambda: stored.append(True))
    assert isinstance(decode_stored_call(bench.writer.changes[-1].state).call.state, Ending)
    assert stored == []
    bench.writer.commit()
    assert stored == [True]
    bench.clock.pass_ms(60_000)
    assert bench.pbx.lines == [ORIGINATE, HANGUP]
    assert bench.shard.calls == {live_call.call.id: live_call}


def test_a_prompt_committed_during_a_pause_is_played_once() -> None:
    """The recovery has not seen it in its snapshot, and requests it."""
    bench = ShardBench()
    live_call = bench.shard.start_call(outbound(say()))
    bench.pbx.settle()
    bench.shard.feed(live_call, LegAnswered(MAIN))
    fetch, done = bench.io.running[0]
    assert isinstance(fetch, FetchMedia)
    bench.writer.at_once = False
    done(MediaFetched(fetch.request, CLIPS))
    bench.shard.pause()
    bench.writer.commit()
    requests = [line for line in bench.pbx.lines if "/play/" in line]
    assert requests == []
    bench.shard.recover_call(live_call, tuple(live_call.outbox), ())
    bench.shard.resume()
    requests = [line for line in bench.pbx.lines if "/play/" in line]
    assert len(requests) == 1


def test_a_new_generation_ignores_earlier_replies() -> None:
    """A late reply to a request before the recovery moves no queue."""
    bench = ShardBench()
    live_call = bench.shard.start_call(outbound())
    reply_to = bench.pbx.sent.pop()
    bench.shard.recover_call(live_call, tuple(live_call.outbox), ())
    reply_to.done(Reply(500))
    assert live_call.is_busy
    assert [type(each) for each in live_call.outbox] == [Originate]
    assert bench.pbx.lines == [ORIGINATE, ORIGINATE]
    bench.pbx.reply()
    assert live_call.outbox == []


def test_a_recovery_does_not_preempt_a_commit() -> None:
    """Commands that wait for their commit run neither before it nor twice."""
    bench = ShardBench()
    bench.writer.at_once = False
    live_call = bench.shard.start_call(outbound())
    bench.shard.recover_call(live_call, tuple(live_call.outbox), ())
    assert bench.pbx.lines == []
    assert [type(each) for each in live_call.outbox] == [Originate]
    bench.writer.commit()
    assert bench.pbx.lines == [ORIGINATE]
    bench.pbx.settle()
    assert (live_call.outbox, live_call.uncommitted) == ([], ())


def test_an_obsolete_uncommitted_command_is_dropped() -> None:
    """A prompt that was over before its commit counts as played: it is not played."""
    bench = ShardBench()
    bench.writer.at_once = False
    live_call = bench.shard.start_call(outbound())
    bench.shard.recover_call(live_call, (), ())
    bench.writer.commit()
    assert bench.pbx.lines == []
    assert (live_call.outbox, live_call.uncommitted) == ([], ())


def test_a_repeated_command_does_not_replace_a_dropped_one() -> None:
    """Obsolete music is not started; music that is started later comes last, and stays."""
    bench = ShardBench()
    live_call = bench.shard.start_call(outbound({"type": "gather", "data": {}}))
    bench.shard.feed(live_call, LegAnswered(MAIN))
    bench.pbx.settle()
    bench.writer.at_once = False
    bench.pbx.lines.clear()
    bench.shard.feed(live_call, HoldRequested(MAIN, held=True))
    bench.shard.feed(live_call, HoldRequested(MAIN, held=False))
    redo = tuple(each for each in live_call.outbox if not isinstance(each, StartHoldMusic))
    bench.shard.recover_call(live_call, redo, ())
    bench.shard.feed(live_call, HoldRequested(MAIN, held=True))
    bench.writer.commit()
    bench.pbx.settle()
    assert bench.pbx.lines == [f"DELETE channels/{MAIN}/moh", f"POST channels/{MAIN}/moh"]


def test_a_lost_reply_keeps_the_command() -> None:
    """Status 0: it may or may not have been executed. The command stays for the recovery."""
    bench = ShardBench()
    live_call = bench.shard.start_call(outbound())
    bench.pbx.reply(LOST)
    assert bench.host.lost_replies == 1
    assert [type(each) for each in live_call.outbox] == [Originate]
