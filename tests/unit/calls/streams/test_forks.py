"""Forks: their start, snoops and bridges, what restarts them, and how they end."""

from typing import Any

import pytest

from engine.calls.media.plan import LegMedia, desired_media, required_bridges
from engine.calls.media.stream_losses import GATEWAY_WAIT_MS, REPORT_GRACE_MS, RETRY_DELAYS_MS
from engine.calls.model.call_states import Dialing, Playing
from engine.calls.model.causes import NORMAL, TEMPORARY_FAILURE
from engine.calls.model.commands import AddToBridge, DestroyBridge, Hangup, Listen
from engine.calls.model.events import (
    BridgeFailed,
    LegAnswered,
    LegCreated,
    LegEnded,
    PlaybackEnded,
    Recovered,
)
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.stream_commands import SendToStream, StartStream, StopStream
from engine.calls.model.stream_events import StreamActionReceived, StreamConnected, StreamEnded
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.calls.recovery.reconcile import reconcile
from engine.calls.states import deadline_ms
from engine.calls.taps import PAUSE_MS
from engine.calls.verbs.forks import MAX_FORKS, MAX_SNOOP_FAILURES
from tests.harness.calls.builders import HTTPS, MAIN, Story, answered_call, say, tree
from tests.harness.calls.recoveries import outbox
from tests.harness.calls.streams import progress, starts, states_sent, stream_verb
from wire.webhooks import StreamEndReason

DIAL: dict[str, Any] = {"type": "dial", "data": {"number": "+4712345678"}}


def forked(action: Any = None, **data: Any) -> Story:
    """Return a call with a fork whose channels do not exist yet."""
    return answered_call(stream_verb(action or say(), fork=True, **data))


def forking(action: Any = None, **data: Any) -> Story:
    """Return a call whose fork hears it."""
    story = forked(action, **data)
    join(story)
    return story


def join(story: Story) -> None:
    """Let the snoop of the only fork and its stream exist, and the bot accept."""
    (fork,) = (each for each in story.call.streams if each.data.fork)
    story.take(LegCreated(fork.snoop), 5)
    if fork.channel == "requested":
        story.take(LegCreated(fork.id), 5)
        story.take(StreamConnected(fork.id, story.now, 9), 9)


def the_bridge(story: Story) -> str:
    """Return the bridge of the only fork."""
    return f"{story.call.streams[0].snoop}b"


def test_the_tree_goes_on_at_once() -> None:
    """The fork is started, and the next verb with it; no webhook is sent."""
    story = forked()
    assert story.state == "playing"
    assert len(starts(story)) == 1
    assert story.commands_of(SendWebhook) == []
    assert progress(story) == [("started", None)]


@pytest.mark.parametrize(("track", "heard"), [("caller", "in"), ("bot", "out"), ("both", "both")])
def test_the_track(track: str, heard: str) -> None:
    """It decides what the snoop hears of the main leg; nobody hears the snoop."""
    (snoop,) = forked(track=track).commands_of(Listen)
    assert (snoop.leg, snoop.track) == (MAIN, heard)


@pytest.mark.parametrize("is_snoop_first", [False, True])
def test_snoop_and_stream_are_bridged_when_both_exist(is_snoop_first: bool) -> None:
    """The caller stays where it is."""
    story = forked()
    stream, snoop = starts(story)[0].stream, story.commands_of(Listen)[0].snoop
    first, second = (snoop, stream) if is_snoop_first else (stream, snoop)
    assert story.take(LegCreated(first), 5) == ()
    assert story.take(LegCreated(second), 5) == (AddToBridge(f"{snoop}b", (snoop, stream)),)
    assert desired_media(story.call)[MAIN] == LegMedia()


def test_no_fork_hears_a_sensitive_gather() -> None:
    """It hears on when the gather has ended."""
    gather = {"type": "gather", "data": {"maxDigits": 1, "sensitive": True}, "action": HTTPS}
    story = forking({**say(), "action": gather})
    (fork,) = story.call.streams
    story.deliver_media()
    commands = story.take(PlaybackEnded(story.state_as(Playing).request), 1_000)
    assert (story.state, story.call.streams[0].snoop) == ("gathering", "")
    assert Hangup(fork.snoop, NORMAL) in commands
    assert any(isinstance(each, Listen) for each in story.press("4"))
    assert story.call.streams[0].snoop != ""


def test_it_ends_with_the_call() -> None:
    """Stream, snoop and bridge are removed, and its end is reported."""
    story = forking()
    bridge, (fork,) = the_bridge(story), story.call.streams
    commands = story.hang_up()
    assert {StopStream(fork.id), Hangup(fork.snoop, NORMAL), DestroyBridge(bridge)} <= set(commands)
    assert story.call.streams == ()
    assert progress(story)[-1] == ("ended", "hangup")


def test_a_bot_that_closes_ends_it() -> None:
    """The call does not notice."""
    story = forking()
    bridge, (fork,), state = the_bridge(story), story.call.streams, story.call.state
    commands = story.take(StreamEnded(fork.id, "bot-closed"))
    assert {StopStream(fork.id), Hangup(fork.snoop, NORMAL), DestroyBridge(bridge)} <= set(commands)
    assert (story.call.streams, story.call.state) == ((), state)
    assert story.take(LegEnded(fork.snoop, NORMAL)) == ()


def test_the_limit_ends_it() -> None:
    """Also while another verb waits for longer."""
    story = forking({"type": "pause", "data": {"length": 60}}, maxDuration=10)
    story.pass_deadline()
    assert story.state == "pausing"
    assert progress(story)[-1] == ("ended", "max-duration")


def test_a_lost_bot_is_called_again() -> None:
    """At once, then after growing delays; then the fork ends, and the call goes on."""
    story = forking({"type": "pause", "data": {"length": 600}})
    for delay_ms in RETRY_DELAYS_MS:
        lost_ms = story.now
        story.take(StreamEnded(story.call.streams[0].id, "unreachable"))
        if delay_ms:
            assert len(starts(story)) == len({each.stream for each in starts(story)})
            pass_time(story, lost_ms + delay_ms)
        assert story.call.streams[0].id == starts(story)[-1].stream
    assert len(starts(story)) == 1 + len(RETRY_DELAYS_MS)
    story.take(StreamEnded(story.call.streams[0].id, "unreachable"))
    assert story.call.streams == ()
    assert progress(story)[-1] == ("ended", "unreachable")
    assert story.state == "pausing"


def pass_time(story: Story, until_ms: int) -> None:
    """Pass all deadlines until then."""
    while story.now < until_ms:
        story.pass_deadline()


def test_a_lost_gateway_is_replaced() -> None:
    """Its channel ends without a report; snoop and stream are new."""
    story = forking(onLost="continue")
    (fork,) = story.call.streams
    story.take(LegEnded(fork.id, NORMAL))
    lost_ms = story.now
    pass_time(story, lost_ms + REPORT_GRACE_MS)
    join(story)
    (second,) = story.call.streams
    assert (second.id, second.snoop) != (fork.id, fork.snoop)
    assert required_bridges(story.call) == {the_bridge(story)}
    assert ("lost", "gateway-lost") in progress(story)


@pytest.mark.parametrize("reason", ["bot-lost", "unreachable"])
def test_a_call_without_its_fork_is_hung_up(reason: StreamEndReason) -> None:
    """With `onLost: hangup`: a recording that must be made, for example."""
    story = forking(onLost="hangup")
    assert Hangup(MAIN, NORMAL) in story.take(StreamEnded(story.call.streams[0].id, reason))
    assert story.call.reason == "stream_lost"


def test_another_party_is_heard() -> None:
    """Packets of another party would be dropped as late, so the snoop restarts after a pause."""
    story = forking({**DIAL, "action": DIAL})
    first = story.call.streams[0].snoop
    leg = story.state_as(Dialing).legs[0]
    story.take(LegAnswered(leg), 2_000)
    story.take(LegEnded(leg, NORMAL), 2_000)
    second = story.state_as(Dialing).legs[0]
    commands = story.take(LegAnswered(second), 2_000)
    assert Hangup(first, NORMAL) in commands
    began_ms = story.now
    pass_time(story, began_ms + PAUSE_MS)
    join(story)
    (fork,) = story.call.streams
    assert fork.snoop != first
    assert len(starts(story)) == 1


def test_a_fork_ends_while_its_snoop_is_paused() -> None:
    """The end of the pause is no deadline any more once it has passed."""
    story = forking({**DIAL, "action": DIAL})
    leg = story.state_as(Dialing).legs[0]
    story.take(LegAnswered(leg), 2_000)
    story.take(LegEnded(leg, NORMAL), 2_000)
    story.take(LegAnswered(story.state_as(Dialing).legs[0]), 2_000)
    assert story.call.taps_paused_until_ms == story.now + PAUSE_MS
    story.take(StreamEnded(story.call.streams[0].id, "bot-closed"), 5)
    pass_time(story, story.call.taps_paused_until_ms)
    assert (deadline_ms(story.call) or 0) > story.now


def test_a_snoop_that_ends_is_replaced() -> None:
    """The stream stays."""
    story = forking()
    (fork,) = story.call.streams
    story.take(LegEnded(fork.snoop, NORMAL))
    (after,) = story.call.streams
    assert (after.id, after.snoop == fork.snoop) == (fork.id, False)
    assert len(starts(story)) == 1


def test_snoops_that_cannot_be_created() -> None:
    """The fork ends after a few failures; `pbx-lost` would not help another one."""
    story = forked()
    for _ in range(MAX_SNOOP_FAILURES):
        story.take(LegEnded(story.call.streams[0].snoop, TEMPORARY_FAILURE))
    assert story.call.streams == ()
    assert progress(story)[-1] == ("ended", "pbx-lost")


def test_a_bridge_that_cannot_be_made() -> None:
    """Another snoop is tried."""
    story = forking()
    (fork,) = story.call.streams
    commands = story.take(BridgeFailed(the_bridge(story), "no such channel"))
    assert Hangup(fork.snoop, NORMAL) in commands
    assert story.commands_of(Listen)[-1].snoop == story.call.streams[0].snoop != fork.snoop


def test_without_a_gateway_one_is_waited_for() -> None:
    """Not by the first try; when none takes it, it ends."""
    story = forking()
    for _ in range(2):
        (fork,) = story.call.streams
        story.take(StreamEnded(fork.id, "no-gateway"))
    assert [each.wait_ms for each in starts(story)] == [0, GATEWAY_WAIT_MS]
    assert progress(story)[-1] == ("ended", "no-gateway")


def test_its_bot_may_not_act() -> None:
    """It only listens; digits are not sent to it."""
    story = forking()
    (fork,) = story.call.streams
    story.take(StreamActionReceived(fork.id, tree(say()), story.now, 0))
    assert states_sent(story) == ["rejected"]
    story.press("1")
    assert len(story.commands_of(SendToStream)) == 1


def test_a_fork_beside_a_conversation_with_a_bot() -> None:
    """Both bots are connected, each in its own way."""
    story = forking(stream_verb(HTTPS))
    assert story.state == "streaming"
    talking = starts(story)[-1].stream
    story.take(LegCreated(talking))
    bridges = {each.bridge for each in desired_media(story.call).values()}
    assert len(bridges) == 2
    story.hang_up()
    assert {each.stream for each in story.commands_of(StopStream)} == {
        each.stream for each in story.commands_of(StartStream)
    }


def test_there_are_few_forks() -> None:
    """One too many is not started, and the tree goes on."""
    action: Any = say()
    for _ in range(MAX_FORKS + 1):
        action = stream_verb(action, fork=True)
    story = answered_call(action)
    assert len(starts(story)) == MAX_FORKS
    assert progress(story)[-1] == ("ended", "too-many-forks")
    assert story.state == "playing"


@pytest.mark.parametrize("is_unsent", [False, True])
@pytest.mark.parametrize("exists", [False, True])
def test_a_snoop_that_was_requested_before_an_outage(is_unsent: bool, exists: bool) -> None:
    """It is reported as created if the PBX has it, and requested again if it was not yet."""
    story = forked()
    (fork,) = story.call.streams
    box = outbox(story, Listen, StartStream) if is_unsent else ()
    channels = dict.fromkeys((MAIN, *((fork.snoop, fork.id) if exists else ())), "Up")
    redo, events = reconcile(story.call, box, PbxSnapshot(channels), story.now)
    assert (LegCreated(fork.snoop) in events, LegCreated(fork.id) in events) == (exists, exists)
    ended = [each.leg for each in events if isinstance(each, LegEnded)]
    assert ended == ([] if exists or is_unsent else [fork.snoop, fork.id])
    assert any(isinstance(each, Listen) for each in redo) == (is_unsent and not exists)


def test_its_bridge_is_restored() -> None:
    """Snoop and stream may have been left alone by an engine that died."""
    story = forking()
    (fork,) = story.call.streams
    commands = story.take(Recovered())
    assert AddToBridge(the_bridge(story), (fork.snoop, fork.id)) in commands
