"""The shard: from event to commit to command, in that order."""

import msgspec
import pytest

from engine.calls.model.commands import Originate
from engine.calls.model.events import (
    DigitPressed,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegRinging,
)
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.io_results import ActionReceived, MediaFetched
from engine.calls.model.requests import HangupRequested, MuteRequested
from engine.calls.model.storage_format import decode_stored_call
from engine.calls.replay_audit import replay
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.shard import MAX_CLOCK_SKEW_MS
from engine.runtime.shard.step_runner import (
    ALLOWED_LOG_BYTES,
    MAX_LOG_BYTES,
    MAX_LOG_LINES,
    MAX_STATE_BYTES,
)
from engine.store.errors import Overflow
from tests.harness.calls.builders import (
    CHANNEL,
    CLIPS,
    HTTPS,
    ID,
    MAIN,
    Story,
    dialing_call,
    inbound,
    outbound,
    say,
)
from tests.harness.calls.control import COACH_BRIDGE, SNOOP, coaching
from tests.harness.calls.recognizers import listening
from tests.harness.calls.streams import BRIDGE as BOT_BRIDGE
from tests.harness.calls.streams import FIRST as BOT_CHANNEL
from tests.harness.calls.streams import conversing
from tests.harness.runtime.executor_scene import ManualDialPolicy
from tests.harness.runtime.shard_scene import (
    HANGUP,
    ORIGINATE,
    NotingRecorder,
    ShardScene,
    answered_call,
)
from wire.media import Speech


def test_no_command_runs_before_the_commit() -> None:
    """One atomic commit holds the new state and the commands; then they are executed."""
    scene = ShardScene()
    scene.writer.at_once = False
    stored: list[bool] = []
    live_call = scene.shard.start_call(outbound(say()), lambda: stored.append(True))
    assert scene.pbx.lines == []
    assert stored == []
    stored_call = decode_stored_call(scene.writer.changes[0].state)
    assert stored_call.call == live_call.call
    assert any(isinstance(each, Originate) for each in stored_call.outbox)
    scene.writer.commit()
    assert stored == [True]
    assert scene.pbx.lines == [ORIGINATE]
    assert scene.io.prefetched == [Speech("hello")]


def test_a_change_without_commands_is_not_urgent() -> None:
    """It is committed with the next change that has commands."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound(say()))
    scene.pbx.settle()
    scene.shard.feed(live_call, LegRinging(MAIN))
    scene.shard.feed(live_call, LegAnswered(MAIN))
    assert scene.writer.urgent == [True, False, True]


def test_an_executed_command_leaves_the_outbox() -> None:
    """A command stays until it is acknowledged; the next commit is without it."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound())
    assert [type(each) for each in live_call.outbox.commands] == [Originate]
    scene.pbx.reply()
    assert live_call.outbox.commands == ()


def test_the_log_is_complete() -> None:
    """It starts with the opened call; every effective event follows, numbered."""
    scene = ShardScene()
    live_call = answered_call(scene)
    scene.clock.pass_ms(2_000)
    scene.shard.feed(live_call, LegEnded(MAIN, 16))
    lines: list[bytes] = []
    for change in scene.writer.changes:
        assert change.seq == len(lines)
        lines += change.log
    assert list(replay(lines))[-1].call == live_call.call
    before, last = scene.writer.changes[-2:]
    assert [(each.live, each.used_ms, each.account) for each in (before, last)] == [
        (True, 0, "acme"),
        (False, 2_000, "acme"),
    ]
    assert len(last.events) == 1


def test_sensitive_digits_are_forgotten_when_they_are_collected() -> None:
    """Not before: a timeout may depend on them."""
    scene = ShardScene()
    data = {"maxDigits": 2, "sensitive": True}
    live_call = answered_call(scene, {"type": "gather", "data": data, "action": HTTPS})
    for digit, forgotten in (("1", []), ("2", [MAIN])):
        scene.clock.pass_ms(200)
        scene.shard.feed(live_call, DigitPressed(MAIN, digit, scene.clock.now))
        scene.clock.pass_ms(20)
        assert scene.host.forgotten == forgotten


def test_the_end_of_a_call_releases_its_audio() -> None:
    """What is still fetched for it, and for no other call, is not needed any more."""
    scene = ShardScene()
    live_call = answered_call(scene)
    assert scene.io.released == []
    scene.shard.feed(live_call, LegEnded(MAIN, 16))
    assert scene.io.released == [live_call.call.id]


def test_an_answer_does_not_overtake_ringing() -> None:
    """An answer precedes its commit, unless the 180 before it still waits for its own."""
    scene = ShardScene()
    scene.writer.at_once = False
    pause = {"type": "pause", "data": {"length": 0.001}, "action": say()}
    scene.shard.start_call(inbound(pause, answer_deferred=True))
    scene.clock.pass_ms(5)
    assert scene.pbx.lines == []
    scene.writer.commit()
    scene.pbx.settle()
    assert scene.pbx.lines == [f"POST channels/{CHANNEL}/ring", f"POST channels/{CHANNEL}/answer"]
    scene.shard.start_call(inbound(say()))
    assert scene.pbx.lines[2:] == [f"POST channels/{CHANNEL}/answer"]


def test_an_event_without_effect_is_not_committed() -> None:
    """Only changes are committed."""
    scene = ShardScene()
    live_call = answered_call(scene)
    before = len(scene.writer.changes)
    scene.shard.feed(live_call, LegRinging(MAIN))
    scene.shard.feed(live_call, DigitPressed("other", "1", 0))
    assert len(scene.writer.changes) == before


def test_cached_audio_is_played_in_the_same_step() -> None:
    """A cached clip needs no I/O command; the log has both events, so a replay is the same."""
    scene = ShardScene()
    scene.io.clips[Speech("hello")] = CLIPS[0]
    live_call = answered_call(scene)
    assert scene.io.running == []
    play, check = scene.pbx.lines[-2:]
    assert play.startswith(f"POST channels/{MAIN}/play/")
    assert check == f"GET channels/{MAIN}/rtp_statistics"
    assert len(scene.writer.changes[-1].log) == 2
    lines = [line for change in scene.writer.changes for line in change.log]
    assert list(replay(lines))[-1].call == live_call.call


def test_missing_audio_is_fetched() -> None:
    """The I/O command ends in one event and leaves the outbox."""
    scene = ShardScene()
    live_call = answered_call(scene)
    command, done = scene.io.running[0]
    assert isinstance(command, FetchMedia)
    assert command in live_call.outbox.commands
    done(MediaFetched(command.request, CLIPS))
    assert command not in live_call.outbox.commands
    assert scene.pbx.lines[-1].startswith(f"POST channels/{MAIN}/play/")


def test_an_io_result_after_the_call_is_ignored() -> None:
    """A webhook may answer long after the caller has hung up."""
    scene = ShardScene()
    live_call = answered_call(scene, HTTPS)
    command, done = scene.io.running[0]
    assert isinstance(command, SendWebhook)
    scene.shard.feed(live_call, LegEnded(MAIN, 16))
    changes = len(scene.writer.changes)
    done(ActionReceived(command.request, None))
    assert len(scene.writer.changes) == changes
    assert scene.shard.calls == {}


def test_a_call_is_found_by_its_channels() -> None:
    """Our channel ids begin with the call's id; Asterisk's own ids are indexed."""
    scene = ShardScene()
    outgoing, incoming = scene.shard.start_call(outbound()), scene.shard.adopt(LiveCall(inbound()))
    assert scene.shard.find_by_channel(f"{ID}.p7") in {outgoing, incoming}
    assert scene.shard.find_by_channel(CHANNEL) is incoming
    assert scene.shard.find_by_channel("1700000000.8") is None


def test_an_internal_error_ends_only_its_call() -> None:
    """If a step cannot be stored, the call's legs are hung up and other calls continue."""
    scene = ShardScene()
    live_call = answered_call(scene)
    scene.writer.refusal = Overflow("full")
    scene.shard.feed(live_call, HangupRequested("api"))
    assert scene.shard.calls == {}
    assert scene.pbx.lines[-1] == HANGUP
    assert scene.clock.armed == []


def test_the_end_of_a_dropped_call_is_stored() -> None:
    """Whatever the backlog: its record, its last event, and a log that can be replayed."""
    scene = ShardScene()
    live_call = answered_call(scene)
    scene.writer.refusal = Overflow("full")
    before = scene.writer.changes[-1]
    scene.shard.feed(live_call, HangupRequested("api"))
    change = scene.writer.changes[-1]
    assert change.seq == before.seq + len(before.log)
    stored = decode_stored_call(change.state)
    assert (change.live, stored.call.is_ended, stored.call.reason) == (
        False, True, "store_overflow",
    )  # fmt: skip
    events = [msgspec.json.decode(each) for each in change.events]
    assert events[-1]["event"] == "completed"
    assert events[-1]["record"]["reason"] == "store_overflow"
    entries = [line for each in scene.writer.changes for line in each.log]
    assert list(replay(entries))[-1].call == stored.call


@pytest.mark.parametrize(
    ("story", "left"),
    [
        (conversing(), [f"channels/{BOT_CHANNEL}", f"bridges/{BOT_BRIDGE}"]),
        (listening(), [f"channels/{ID}.w1", f"channels/{ID}.s2", f"bridges/{ID}.s2b"]),
        (coaching(), [f"channels/{SNOOP}", f"bridges/{COACH_BRIDGE}"]),
    ],
    ids=["bot", "recognizer", "coach"],
)
def test_a_dropped_call_leaves_no_media(story: Story, left: list[str]) -> None:
    """Or a bot would talk, and a coach listen, until the reaper finds them."""
    scene = ShardScene()
    live_call = scene.shard.adopt(LiveCall(story.call))
    scene.writer.refusal = Overflow("full")
    scene.shard.feed(live_call, HangupRequested("api"))
    removed = [line.removeprefix("DELETE ") for line in scene.pbx.lines]
    assert [each for each in removed if each in left] == left


@pytest.mark.parametrize(
    ("count", "limit"), [("log_lines", MAX_LOG_LINES), ("log_bytes", MAX_LOG_BYTES)]
)
def test_a_call_of_too_many_steps_ends(count: str, limit: int) -> None:
    """A customer's call does not fill the store: its end is stored, with that reason."""
    scene = ShardScene()
    live_call = answered_call(scene)
    assert getattr(live_call, count) > 0
    setattr(live_call, count, limit - 1)
    scene.shard.feed(live_call, MuteRequested(MAIN, "in"))
    assert live_call.call.id in scene.shard.calls
    scene.shard.feed(live_call, MuteRequested(MAIN, "out"))
    assert _end_of(scene) == "call_too_large"
    assert scene.shard.calls == {}
    assert scene.pbx.lines[-1] == HANGUP


def test_a_large_call_of_an_account_that_has_written_too_much_ends() -> None:
    """A call of common size goes on."""
    policy = ManualDialPolicy()
    scene = ShardScene(policy=policy)
    live_call = answered_call(scene)
    policy.is_spent = True
    live_call.log_bytes = ALLOWED_LOG_BYTES - 1
    scene.shard.feed(live_call, MuteRequested(MAIN, "in"))
    assert live_call.call.id in scene.shard.calls
    scene.shard.feed(live_call, MuteRequested(MAIN, "out"))
    assert _end_of(scene) == "call_too_large"


def test_what_a_call_leaves_in_the_store_is_counted() -> None:
    """Its log, and its last state; each state before replaces another one."""
    policy = ManualDialPolicy()
    scene = ShardScene(policy=policy)
    live_call = answered_call(scene)
    scene.shard.feed(live_call, LegEnded(MAIN, 16))
    lines = [line for each in scene.writer.changes for line in each.log]
    assert policy.counted == sum(map(len, lines)) + len(scene.writer.changes[-1].state)


def test_a_call_with_too_large_a_state_ends() -> None:
    """Each commit stores the whole state; the step that made it too large is not stored."""
    scene = ShardScene()
    live_call = answered_call(scene)
    before = len(scene.writer.changes)
    large = {"text": "x" * MAX_STATE_BYTES}
    live_call.call = msgspec.structs.replace(live_call.call, custom_data=large)
    scene.shard.feed(live_call, MuteRequested(MAIN, "in"))
    assert len(scene.writer.changes) == before + 1
    assert _end_of(scene) == "call_too_large"


def test_an_error_after_the_end_of_a_call_stores_nothing() -> None:
    """Its end is stored already; of a call whose start was not stored, nothing is."""
    scene = ShardScene()
    live_call = answered_call(scene)
    scene.shard.feed(live_call, LegEnded(MAIN, 16))
    before = list(scene.writer.changes)
    with scene.shard.guard(live_call, "test"):
        raise ValueError
    scene.writer.refusal = Overflow("full")
    scene.shard.start_call(outbound(say()))
    assert scene.writer.changes == before


def _end_of(scene: ShardScene) -> str:
    """Return the reason of the end that was stored last."""
    stored = decode_stored_call(scene.writer.changes[-1].state)
    assert stored.call.is_ended
    assert not scene.writer.changes[-1].live
    return stored.call.reason


@pytest.mark.parametrize("field", ["transfers", "conferences", "recordings"])
def test_a_call_with_an_unreadable_part_ends(field: str) -> None:
    """Its end is stored without that part, which no step can read."""
    scene = ShardScene()
    live_call = answered_call(scene)
    live_call.call = msgspec.structs.replace(live_call.call, **{field: (object(),)})
    scene.shard.feed(live_call, HangupRequested("api"))
    stored = decode_stored_call(scene.writer.changes[-1].state)
    assert (stored.call.is_ended, stored.call.reason) == (True, "internal")
    assert scene.pbx.lines[-1] == HANGUP


def test_hanging_up_a_channel() -> None:
    """A channel of no call is hung up with a cause."""
    scene = ShardScene()
    scene.shard.context.hang_up_channel("1700000000.9", 34)
    assert scene.pbx.sent[-1].request.query == (("reason_code", "34"),)
    scene.pbx.settle()


@pytest.mark.parametrize(("healthy", "overloaded"), [(False, False), (True, True)])
def test_no_new_call_while_it_cannot_be_stored(healthy: bool, overloaded: bool) -> None:
    """The store is down, or its backlog is too long."""
    scene = ShardScene()
    assert scene.shard.can_store
    scene.writer.is_healthy, scene.writer.is_full = healthy, overloaded
    assert not scene.shard.can_store


def test_media_of_a_leg_that_answered_during_an_outage() -> None:
    """A recovery checks it, too: its party may have answered without an offered codec."""
    scene = ShardScene()
    live_call = scene.shard.adopt(LiveCall(dialing_call("+4712345678").call))
    scene.shard.recover_call(live_call, (), (LegCreated(f"{ID}.l1"), LegAnswered(f"{ID}.l1")))
    assert f"GET channels/{ID}.l1/rtp_statistics" in scene.pbx.lines


def test_calls_are_stored_again() -> None:
    """As they were stored last, at the place of their last line in the log."""
    scene = ShardScene()
    live_call = answered_call(scene)
    last = scene.writer.changes[-1]
    scene.shard.store_again([live_call.call.id])
    assert scene.writer.changes[-1] is last
    scene.shard.store_again()
    again = scene.writer.changes[-1]
    assert (again.call_id, again.node, again.state) == (last.call_id, last.node, last.state)
    assert (again.seq, len(again.log)) == (last.seq + len(last.log) - 1, 1)


@pytest.mark.parametrize(
    ("ahead_ms", "moved"),
    [(MAX_CLOCK_SKEW_MS, 0), (-MAX_CLOCK_SKEW_MS, 0), (-MAX_CLOCK_SKEW_MS - 1, 1)],
)
def test_a_call_of_an_engine_with_another_clock(ahead_ms: int, moved: int) -> None:
    """Its times are moved if the clocks differ noticeably."""
    scene = ShardScene()
    live_call = answered_call(scene)
    before = len(scene.writer.changes)
    scene.clock.offset_ms = 10
    scene.shard.adopt_clock(live_call, None)
    scene.shard.adopt_clock(live_call, 10 - ahead_ms)
    assert len(scene.writer.changes) == before + moved


@pytest.mark.parametrize(("seen_ms", "moved_ms"), [(0, 0), (100, 105)])
def test_the_clock_is_corrected_in_an_outage(seen_ms: int, moved_ms: int) -> None:
    """When calls were last seen moves with it, unless that is unknown."""
    scene = ShardScene()
    scene.shard.last_seen_ms = seen_ms
    scene.shard.change_clock(5)
    assert scene.shard.last_seen_ms == moved_ms


def test_a_retired_shard_leaves_its_calls() -> None:
    """Neither a timer, a leg nor a recording of them is left to this engine."""
    scene, recorder = ShardScene(), NotingRecorder()
    scene.shard.context = msgspec.structs.replace(scene.shard.context, recorder=recorder)
    live_call = scene.shard.start_call(outbound(say()))
    scene.shard.recover_call(live_call, live_call.outbox.commands, ())
    legs = scene.shard.context.legs
    assert (legs.on_trunk, len(scene.clock.armed)) == (1, 1)
    scene.shard.retire()
    assert recorder.notes == [f"drop {ID}", f"abandon {ID}"]
    assert (legs.on_trunk, scene.clock.armed, scene.shard.calls) == (0, [], {})
    before = len(scene.pbx.lines)
    scene.pbx.settle()
    assert len(scene.pbx.lines) == before
