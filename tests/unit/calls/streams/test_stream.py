"""stream: its start, its bridge, what the bot is sent, and how it ends without a loss."""

import pytest

from engine.calls.media.plan import UNBRIDGED, LegMedia, desired_media
from engine.calls.model.call_states import Streaming
from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import AddToBridge, DestroyBridge, Hangup, StartHoldMusic
from engine.calls.model.events import ClockChanged, LegCreated, LegEnded, Recovered
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.stream_commands import SendToStream, StopStream
from engine.calls.model.stream_events import StreamConnected, StreamEnded
from engine.calls.step import step
from tests.harness.calls.builders import HTTPS, ID, MAIN, Story, answered_call, say
from tests.harness.calls.control import hold, unhold
from tests.harness.calls.streams import (
    BOT,
    BRIDGE,
    FIRST,
    connect,
    conversing,
    current,
    end,
    lose_channel,
    messages,
    progress,
    reach_mark,
    requested,
    results,
    speak,
    starts,
    stream_verb,
)
from wire.streams.setup import DigitMessage


def test_it_starts_at_once() -> None:
    """One stream starts; the caller is not bridged before its channel exists."""
    story = requested(parameters={"tenant": "7"})
    (start,) = starts(story)
    assert (start.stream, start.data.url, start.resume) == (FIRST, BOT, None)
    assert start.data.parameters == {"tenant": "7"}
    assert story.commands_of(AddToBridge) == []
    assert desired_media(story.call) == {MAIN: UNBRIDGED}
    assert progress(story) == [("started", None)]


def test_caller_and_bot_are_bridged_when_the_channel_exists() -> None:
    """The gateway sends silence until the bot has accepted, so nothing waits for that."""
    story = requested()
    assert story.take(LegCreated(FIRST), 5) == (AddToBridge(BRIDGE, (MAIN, FIRST)),)
    assert story.take(StreamConnected(FIRST, story.now, 20), 20) == ()
    assert progress(story) == [("started", None), ("connected", None)]


def test_the_bot_may_accept_before_the_channel_exists() -> None:
    """The order of PBX and gateway does not matter."""
    story = requested()
    assert story.take(StreamConnected(FIRST, story.now, 3)) == ()
    assert story.take(LegCreated(FIRST)) == (AddToBridge(BRIDGE, (MAIN, FIRST)),)


def test_digits_go_to_the_bot() -> None:
    """Each has an id of its own, and none is kept for a gather."""
    story = conversing()
    first, second = *story.press("4"), *story.press("#")
    assert isinstance(first, SendToStream)
    assert isinstance(second, SendToStream)
    assert first.id != second.id
    assert messages(story) == [DigitMessage("4"), DigitMessage("#")]


def test_the_bot_ends_it() -> None:
    """The tree continues without a webhook, the channel ends, and the bridge with it."""
    story = conversing(say("bye"))
    speak(story, is_speaking=True, heard_ms=0)
    commands = end(story, "bot-closed", heard_ms=1_500, mark="m1", after_ms=2_000)
    assert [each.sources for each in commands if isinstance(each, FetchMedia)] != []
    assert StopStream(FIRST) in commands
    assert DestroyBridge(BRIDGE) in commands
    assert story.commands_of(SendWebhook) == []
    assert story.call.streams == ()
    assert progress(story)[-1] == ("ended", "bot-closed")


def test_the_result_is_sent_to_the_webhook() -> None:
    """It has the reason, the duration, how much was heard, and the last mark; the call waits."""
    story = conversing(HTTPS, onLost="continue")
    speak(story, is_speaking=True, heard_ms=0)
    reach_mark(story, "greeting", 900)
    end(story, "bot-closed", heard_ms=1_500, after_ms=2_000)
    assert story.state == "awaiting-instructions"
    (result,) = results(story)
    assert result == {
        "callId": ID,
        "channelId": MAIN,
        "streamId": FIRST,
        "reason": "bot-closed",
        "durationMs": 2_025,
        "heardMs": 1_500,
        "event": "stream",
        "lastMark": "greeting",
    }


def test_the_call_ends_after_the_last_action() -> None:
    story = conversing()
    assert Hangup(MAIN, NORMAL) in end(story, "bot-closed")


@pytest.mark.parametrize(
    ("limits", "limit_ms"),
    [
        ({"maxDuration": 30}, 30_000),
        ({"maxDuration": 30, "timeout": 10}, 10_000),
        ({"maxDuration": 10, "timeout": 30}, 10_000),
    ],
)
def test_the_limit(limits: dict[str, float], limit_ms: int) -> None:
    """The sooner of `maxDuration` and `timeout` ends it."""
    story = answered_call(stream_verb(say(), **limits))
    began = story.now
    connect(story)
    commands = story.pass_deadline()
    assert story.now == began + limit_ms
    assert StopStream(FIRST) in commands
    assert (story.state, progress(story)[-1]) == ("playing", ("ended", "max-duration"))


def test_without_a_limit_it_lasts_as_long_as_the_call() -> None:
    story = conversing()
    assert story.state_as(Streaming).deadline_ms == story.call.must_end_ms


def test_a_hangup_is_reported() -> None:
    """The stream stops with the call; the response of its webhook is not awaited."""
    story = conversing(HTTPS)
    story.hang_up()
    assert story.state == "ended"
    assert story.commands_of(StopStream) == [StopStream(FIRST)]
    assert [each["reason"] for each in results(story)] == ["hangup"]
    assert progress(story)[-1] == ("ended", "hangup")


def test_the_calls_limit_is_reported() -> None:
    """The stream of a call that has lasted too long ends like one of a caller who hung up."""
    story = conversing(HTTPS)
    story.pass_deadline()
    assert story.state == "ending"
    assert [each["reason"] for each in results(story)] == ["hangup"]


def test_a_hold() -> None:
    """The caller hears music, then the bot again; the stream stays up."""
    story = conversing()
    assert StartHoldMusic(MAIN) in story.take(hold(MAIN), 1_000)
    assert desired_media(story.call)[MAIN] == LegMedia(sound="music")
    assert AddToBridge(BRIDGE, (MAIN,)) in story.take(unhold(MAIN), 5_000)
    assert starts(story) == starts(story)[:1]


def test_the_clock_is_changed() -> None:
    """All times move with it, so neither limit nor what was heard changes."""
    story = conversing(say(), maxDuration=30)
    speak(story, is_speaking=True, heard_ms=0)
    before = story.state_as(Streaming)
    (stream,) = story.call.streams
    story.take(ClockChanged(60_000))
    story.now += 60_000
    after = story.state_as(Streaming)
    (moved,) = story.call.streams
    assert after.limit_ms == before.limit_ms + 60_000
    assert after.since_ms == before.since_ms + 60_000
    assert moved.heard_until(story.now) == stream.heard_until(story.now - 60_000)


def test_reports_of_ended_streams_change_nothing() -> None:
    """They come late, or twice."""
    story = conversing(say())
    end(story, "bot-closed")
    for event in (
        StreamEnded(FIRST, "bot-closed"),
        StreamConnected(FIRST, story.now, 1),
        LegEnded(FIRST, NORMAL),
    ):
        before = story.call
        assert story.take(event) == ()
        assert story.call == before


def test_a_channel_that_comes_too_late_is_hung_up() -> None:
    """Its stream was stopped before the PBX reported it."""
    story = requested(say())
    end(story, "unreachable")
    late = Story(story.call, story.now)
    late.call, _ = step(late.call, StreamEnded(FIRST, "stopped"), late.now)
    assert Hangup(FIRST, NORMAL) in late.take(LegCreated(FIRST))


def test_a_recovery_restores_only_a_lost_bridge() -> None:
    """The stream has continued in its bridge, which is restored if it was lost."""
    story = conversing()
    bridged = ((MAIN, BRIDGE), (FIRST, BRIDGE))
    assert story.take(Recovered(bridged), 3_000) == ()
    assert current(story) == FIRST
    assert AddToBridge(BRIDGE, (MAIN, FIRST)) in story.take(Recovered(), 3_000)


def test_an_end_without_a_report_is_a_lost_gateway() -> None:
    """The report may come for 50 ms after the end of the channel: then its reason counts."""
    story = conversing(say(), onLost="continue")
    lose_channel(story)
    assert desired_media(story.call)[MAIN] == LegMedia(sound="music")
    assert end(story, "bot-closed", after_ms=49) != ()
    assert progress(story)[-1] == ("ended", "bot-closed")
