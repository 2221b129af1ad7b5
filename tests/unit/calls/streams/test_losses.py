"""stream: what follows the loss of a gateway, of the PBX's bridge, or of the bot."""

import pytest

from engine.calls.media.plan import LegMedia, desired_media
from engine.calls.media.stream_losses import (
    GATEWAY_WAIT_MS,
    LASTED_MS,
    REPORT_GRACE_MS,
    RETRY_DELAYS_MS,
)
from engine.calls.model import events
from engine.calls.model.call_states import Streaming
from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import AddToBridge, Hangup, StartHoldMusic
from engine.calls.model.requests import StreamStopRequested
from engine.calls.model.stream_commands import StartStream, StopStream
from engine.calls.model.stream_events import StreamConnected, StreamInterrupted
from tests.harness.calls.builders import HTTPS, MAIN, Story, say
from tests.harness.calls.streams import (
    BRIDGE,
    FIRST,
    SECOND,
    connect,
    conversing,
    current,
    end,
    lose_channel,
    progress,
    reach_mark,
    requested,
    results,
    speak,
    starts,
)
from wire.streams.setup import Resume
from wire.verbs import StreamData
from wire.webhooks import StreamEndReason

GATEWAY_LOSSES: list[StreamEndReason] = [
    "gateway-lost",
    "no-gateway",
    "pbx-lost",
    "pbx-unreachable",
    "drained",
]
BOT_LOSSES: list[StreamEndReason] = ["bot-lost", "unreachable", "no-websocket", "slow-reader"]
MUSIC = LegMedia(sound="music")


def opened(story: Story) -> list[str]:
    """Return the ids of all streams that were started."""
    return [each.stream for each in starts(story)]


def test_a_lost_gateway_is_replaced_after_the_grace_time() -> None:
    """Its channel ends without a report: 50 ms later another stream starts, with `resume`."""
    story = conversing(onLost="continue")
    speak(story, is_speaking=True, heard_ms=0)
    reach_mark(story, "m1", 400)
    story.now += 600
    assert StartHoldMusic(MAIN) in lose_channel(story)
    lost_ms = story.now
    commands = story.pass_deadline()
    assert story.now == lost_ms + REPORT_GRACE_MS
    assert StopStream(FIRST) in commands
    assert [each for each in commands if isinstance(each, StartStream)] == [
        StartStream(
            SECOND, starts(story)[0].data, Resume(FIRST, 1_000, "m1"), wait_ms=GATEWAY_WAIT_MS
        )
    ]
    assert progress(story)[-2:] == [("lost", "gateway-lost"), ("resumed", None)]


@pytest.mark.parametrize("reason", GATEWAY_LOSSES)
@pytest.mark.parametrize("on_lost", ["retry", "continue", "hangup"])
def test_what_the_bot_has_not_caused_is_repaired(reason: StreamEndReason, on_lost: str) -> None:
    """Whatever `onLost` says: it is about the bot."""
    story = conversing(onLost=on_lost)
    end(story, reason, heard_ms=700)
    assert opened(story) == [FIRST, SECOND]
    assert starts(story)[-1].resume == Resume(FIRST, 700)


@pytest.mark.parametrize("is_channel_first", [True, False])
def test_music_until_the_bot_has_accepted_the_next_stream(is_channel_first: bool) -> None:
    """Neither its channel alone ends the music, nor a bot that an engine knew before."""
    story = conversing()
    end(story, "gateway-lost")
    assert desired_media(story.call) == {MAIN: MUSIC}
    reports: list[events.Event] = [events.LegCreated(SECOND), StreamConnected(SECOND, 9, 9)]
    first, second = reports if is_channel_first else reversed(reports)
    assert AddToBridge not in map(type, story.take(first, 5))
    assert desired_media(story.call) == {MAIN: MUSIC}
    assert AddToBridge(BRIDGE, (MAIN, SECOND)) in story.take(second, 9)


@pytest.mark.parametrize("reason", BOT_LOSSES)
def test_a_lost_bot_is_called_again(reason: StreamEndReason) -> None:
    """With `retry`, the default: at once, then after growing delays, then the verb ends."""
    story = conversing(say())
    for delay_ms in RETRY_DELAYS_MS:
        lost_ms = story.now
        end(story, reason)
        if delay_ms:
            assert current(story) == ""
            story.pass_deadline()
        assert story.now == lost_ms + delay_ms
    assert len(opened(story)) == len(set(opened(story))) == 1 + len(RETRY_DELAYS_MS)
    end(story, reason)
    assert story.state == "playing"
    assert progress(story)[-1] == ("ended", reason)


def test_a_stream_that_lasted_is_no_failure_of_the_one_before() -> None:
    """The tries are counted from the start."""
    story = conversing(say())
    for _ in RETRY_DELAYS_MS:
        end(story, "bot-lost")
        if not current(story):
            story.pass_deadline()
    connect(story)
    end(story, "bot-lost", after_ms=LASTED_MS)
    assert story.state_as(Streaming).failures == 1
    assert current(story)


@pytest.mark.parametrize("reason", BOT_LOSSES)
def test_the_tree_continues_without_a_lost_bot(reason: StreamEndReason) -> None:
    """With `continue`, no second stream starts."""
    story = conversing(HTTPS, onLost="continue")
    end(story, reason)
    assert opened(story) == [FIRST]
    assert story.state == "awaiting-instructions"
    assert [each["reason"] for each in results(story)] == [reason]


@pytest.mark.parametrize("reason", [*BOT_LOSSES, "address-refused"])
def test_a_call_without_its_bot_is_hung_up(reason: StreamEndReason) -> None:
    """With `hangup`; the webhook learns the reason, once."""
    story = conversing(HTTPS, onLost="hangup")
    assert Hangup(MAIN, NORMAL) in end(story, reason)
    assert [each["reason"] for each in results(story)] == [reason]
    assert story.call.reason == "stream_lost"
    story.hang_up()
    assert [each for each in progress(story) if each[0] == "ended"] == [("ended", reason)]


@pytest.mark.parametrize("on_lost", ["retry", "hangup"])
def test_a_bot_that_closes_is_not_lost(on_lost: str) -> None:
    """The tree continues."""
    story = conversing(say(), onLost=on_lost)
    end(story, "bot-closed")
    assert (story.state, opened(story)) == ("playing", [FIRST])


def test_a_refused_address_is_not_tried_again() -> None:
    """Another try would have the same result."""
    story = requested(say())
    end(story, "address-refused")
    assert (story.state, opened(story)) == ("playing", [FIRST])


@pytest.mark.parametrize("reason", ["invalid-message", "too-large"])
def test_a_bot_that_breaks_its_protocol_is_not_called_again(reason: StreamEndReason) -> None:
    """It would do so again; the result says at once what was wrong."""
    story = conversing(HTTPS, onLost="retry")
    end(story, reason)
    assert opened(story) == [FIRST]
    assert [each["reason"] for each in results(story)] == [reason]


@pytest.mark.parametrize("on_lost", ["retry", "continue"])
def test_a_bot_that_refuses_is_not_called_again(on_lost: str) -> None:
    """Its server would answer the same; the tree continues."""
    story = requested(HTTPS, onLost=on_lost)
    end(story, "bot-refused")
    assert opened(story) == [FIRST]
    assert [each["reason"] for each in results(story)] == ["bot-refused"]


def test_a_bot_that_refuses_ends_the_call() -> None:
    """With `hangup`."""
    story = requested(onLost="hangup")
    assert Hangup(MAIN, NORMAL) in end(story, "bot-refused")


def test_without_a_gateway_one_is_waited_for() -> None:
    """The first try does not wait, as the caller hears no music yet; the next one does, once."""
    story = requested(HTTPS)
    assert [each.wait_ms for each in starts(story)] == [0]
    assert StartHoldMusic(MAIN) in end(story, "no-gateway")
    assert [each.wait_ms for each in starts(story)] == [0, GATEWAY_WAIT_MS]
    end(story, "no-gateway", after_ms=GATEWAY_WAIT_MS)
    assert [each["reason"] for each in results(story)] == ["no-gateway"]


@pytest.mark.parametrize("is_second_connected", [True, False])
def test_the_third_stream_continues_after_the_first(is_second_connected: bool) -> None:
    """Nothing was heard of the second one."""
    story = conversing(HTTPS)
    speak(story, is_speaking=True, heard_ms=0)
    reach_mark(story, "m1", 400)
    end(story, "bot-lost", heard_ms=900)
    if is_second_connected:
        connect(story)
    end(story, "bot-lost")
    story.pass_deadline()
    assert starts(story)[-1].resume == Resume(FIRST, 900, "m1")
    end(story, "stopped")
    (result,) = results(story)
    assert (result["heardMs"], result["lastMark"]) == (900, "m1")


def test_a_mark_outlives_a_stream_without_one() -> None:
    """What was heard is that of the second stream, the last mark is the first's."""
    story = conversing(HTTPS)
    speak(story, is_speaking=True, heard_ms=0)
    reach_mark(story, "m1", 400)
    end(story, "bot-lost", heard_ms=900)
    connect(story)
    speak(story, is_speaking=True, heard_ms=0)
    end(story, "bot-lost", heard_ms=250)
    story.pass_deadline()
    assert starts(story)[-1].resume == Resume(SECOND, 250, "m1")
    connect(story)
    end(story, "bot-closed", heard_ms=100)
    (result,) = results(story)
    assert (result["heardMs"], result["lastMark"]) == (1_250, "m1")


def test_a_stream_is_stopped_between_two_tries() -> None:
    """By the id that the list has then."""
    story = conversing(HTTPS)
    end(story, "bot-lost")
    end(story, "bot-lost")
    assert current(story) == ""
    story.take(StreamStopRequested(FIRST))
    assert [each["reason"] for each in results(story)] == ["stopped"]


def test_a_failed_bridge_is_replaced() -> None:
    """The channel may be half lost; another one is connected."""
    story = conversing()
    story.take(events.BridgeFailed(BRIDGE, "no such channel", (FIRST,)))
    assert opened(story) == [FIRST, SECOND]
    assert story.take(events.BridgeFailed("other", "no such channel")) == ()


def test_a_failed_bridge_of_the_stream_before_changes_nothing() -> None:
    """A bot may be lost while its stream is bridged: the PBX's error comes after the next start."""
    story = requested()
    story.take(events.LegCreated(FIRST))
    end(story, "bot-lost")
    assert story.take(events.BridgeFailed(BRIDGE, "Channel not found", (MAIN, FIRST))) == ()
    connect(story)
    assert opened(story) == [FIRST, SECOND]


def test_heard_audio_adds_up_over_streams() -> None:
    """The result counts what was heard of all of them, and an interruption ends the count."""
    story = conversing(HTTPS)
    speak(story, is_speaking=True, heard_ms=0)
    story.take(StreamInterrupted(FIRST, "paused", story.now + 500, 500), 500)
    end(story, "gateway-lost", heard_ms=500, after_ms=5_000)
    connect(story)
    speak(story, is_speaking=True, heard_ms=0)
    end(story, "bot-closed", heard_ms=300, after_ms=300)
    assert [each["heardMs"] for each in results(story)] == [800]


def test_the_limit_holds_between_two_tries() -> None:
    """It ends the verb although no stream is left; the one that was heard last is reported."""
    story = conversing(HTTPS, maxDuration=1)
    end(story, "bot-lost")
    for _ in range(2):
        end(story, "bot-lost")
        if not current(story):
            story.pass_deadline()
    story.take(events.DeadlinePassed(), 1_000)
    (result,) = results(story)
    assert (result["reason"], result["streamId"]) == ("max-duration", FIRST)


def test_digits_between_two_tries_go_to_nobody_else() -> None:
    """There is no bot that could be sent them."""
    story = conversing()
    end(story, "bot-lost")
    end(story, "bot-lost")
    assert current(story) == ""
    assert story.take(events.DigitPressed(MAIN, "1", story.now), 10) == ()


def test_a_recovery_makes_up_for_a_missed_try() -> None:
    """The time of the next try may have passed while no engine ran the call."""
    story = conversing()
    end(story, "bot-lost")
    end(story, "bot-lost")
    commands = story.take(events.Recovered(), 60_000)
    assert [type(each) for each in commands if isinstance(each, StartStream)] == [StartStream]


def test_the_same_data_is_used_again() -> None:
    """Parameters and protocol are those of the verb."""
    story = conversing(parameters={"tenant": "7"}, protocol="native", rate=16_000)
    end(story, "gateway-lost")
    first, second = (each.data for each in starts(story))
    assert isinstance(first, StreamData)
    assert first == second
