"""stream: actions of its bot, and conversations that interrupt it."""

from typing import Any

import pytest
from msgspec.structs import replace

from engine.calls.media.plan import LegMedia, desired_media
from engine.calls.model.call_states import AwaitingInstructions, Streaming
from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import AddToBridge, Hangup
from engine.calls.model.continuation import SuspendedStream
from engine.calls.model.events import (
    ClockChanged,
    DigitPressed,
    LegAnswered,
    LegEnded,
    PlaybackEnded,
)
from engine.calls.model.io_results import ActionFailed, ActionReceived
from engine.calls.model.stream_commands import StopStream
from engine.calls.model.stream_events import StreamActionReceived, StreamEnded
from engine.calls.verbs.sensitive_input import SURPLUS_MS, is_sealable
from engine.calls.verbs.stream import MAX_NESTED, stop
from tests.harness.calls.builders import HTTPS, MAIN, Story, say
from tests.harness.calls.control import dial_into
from tests.harness.calls.streams import (
    BRIDGE,
    FIRST,
    connect,
    conversing,
    current,
    end,
    messages,
    progress,
    request_action,
    results,
    starts,
    states_sent,
    stream_verb,
)
from wire.streams.setup import ActionMessage, DigitMessage, Resume

GATHER: dict[str, Any] = {"type": "gather", "data": {"maxDigits": 2}}


def last_message(story: Story) -> ActionMessage:
    """Return the last message to a bot, which must be of an action."""
    message = messages(story)[-1]
    assert isinstance(message, ActionMessage)
    return message


def finish_playback(story: Story) -> None:
    """Let an action that says something end."""
    story.deliver_media()
    story.take(PlaybackEnded(story.call.state.request), 4_000)  # type: ignore[union-attr]  # plays


def test_an_action_runs_while_the_stream_waits() -> None:
    """The bot is sent `started` and `ended`; the caller leaves its bridge, and returns."""
    story = conversing()
    request_action(story, say())
    assert states_sent(story) == ["started"]
    assert story.state == "playing"
    assert desired_media(story.call)[MAIN] == LegMedia()
    finish_playback(story)
    assert (story.state, current(story)) == ("streaming", FIRST)
    assert states_sent(story) == ["started", "ended"]
    bridge = story.state_as(Streaming).bridge
    assert desired_media(story.call)[MAIN] == LegMedia(bridge)
    assert bridge != BRIDGE
    assert len(starts(story)) == 1


def test_collected_digits_are_the_result() -> None:
    story = conversing()
    request_action(story, GATHER)
    story.press("1")
    story.press("2")
    result = {"verb": "gather", "digits": "12", "reason": "max-digits"}
    assert last_message(story) == ActionMessage("ended", result=result)


def test_sensitive_digits_never_reach_the_bot() -> None:
    """Neither as digits of the gather nor as digits of the caller."""
    story = conversing()
    gather = {"type": "gather", "data": {"maxDigits": 2, "sensitive": True}, "action": HTTPS}
    request_action(story, gather)
    story.press("4")
    story.press("7")
    story.take(ActionReceived(story.state_as(AwaitingInstructions).request, None), 50)
    assert last_message(story) == ActionMessage("ended", result={"verb": "reply"})
    assert "47" not in str(messages(story))


def test_the_rest_of_a_secret_never_reaches_the_bot() -> None:
    """What is typed on after the gather is sealed, until the caller pauses."""
    story = conversing()
    gather = {"type": "gather", "data": {"maxDigits": 1, "sensitive": True}, "action": HTTPS}
    request_action(story, gather)
    story.press("4")
    story.take(ActionReceived(story.state_as(AwaitingInstructions).request, None), 50)
    assert story.state == "streaming"
    after_ms = SURPLUS_MS - 100
    rest = DigitPressed(MAIN, "7", story.now + after_ms)
    assert is_sealable(story.call, rest)
    before = len(messages(story))
    story.take(replace(rest, digit="~" + "A" * 39), after_ms)
    assert len(messages(story)) == before
    assert is_sealable(story.call, DigitPressed(MAIN, "3", story.now + after_ms))
    later = DigitPressed(MAIN, "8", story.now + SURPLUS_MS + 1)
    assert not is_sealable(story.call, later)
    story.take(later, SURPLUS_MS + 1)
    assert messages(story)[-1] == DigitMessage("8")


def test_bots_that_call_bots_have_an_end() -> None:
    """Each of them keeps its stream while the next one runs."""
    story = conversing()
    for _ in range(MAX_NESTED):
        request_action(story, stream_verb())
        connect(story)
    request_action(story, stream_verb())
    assert last_message(story).state == "rejected"
    assert len(story.call.streams) == MAX_NESTED + 1


def test_a_dial_is_an_action() -> None:
    """The bot gets its caller back when the person has hung up, and learns how the dial ended."""
    story = conversing()
    request_action(story, {"type": "dial", "data": {"number": "+4712345678"}})
    leg = story.call.legs[-1].id
    story.take(LegAnswered(leg), 3_000)
    assert story.state == "bridged"
    story.take(LegEnded(leg, NORMAL), 10_000)
    assert (story.state, current(story)) == ("streaming", FIRST)
    result = last_message(story).result
    assert result["verb"] == "dial"
    assert result["dial"]["durationMs"] == 10_000


def test_a_bot_hangs_up() -> None:
    """The verb's webhook learns that the call ended."""
    story = conversing(HTTPS)
    commands = request_action(story, {"type": "hangup"})
    assert Hangup(MAIN, NORMAL) in commands
    assert StopStream(FIRST) in commands
    assert [each["reason"] for each in results(story)] == ["hangup"]


def test_a_caller_hangs_up_during_an_action() -> None:
    """The stream that waits is stopped and reported, too."""
    story = conversing(HTTPS)
    request_action(story, say())
    story.hang_up()
    assert story.state == "ended"
    assert [each["reason"] for each in results(story)] == ["hangup"]
    assert story.commands_of(StopStream) == [StopStream(FIRST)]
    assert progress(story)[-1] == ("ended", "hangup")


def test_a_second_action_is_rejected_while_one_runs() -> None:
    """The first one is not disturbed."""
    story = conversing()
    request_action(story, say())
    before = story.call.state
    request_action(story, say("other"), FIRST)
    assert last_message(story) == ActionMessage("rejected", "another action is running")
    assert story.call.state == before


def test_an_action_that_is_not_valid_is_rejected() -> None:
    """The bot learns why; the conversation continues."""
    story = conversing()
    story.take(StreamActionReceived(FIRST, None, story.now, 0, "type: required"))
    assert last_message(story) == ActionMessage("rejected", "type: required")
    assert story.state == "streaming"


def test_a_stream_that_is_an_action_of_a_bot() -> None:
    """The second bot talks to the caller; the first one waits, and may not act meanwhile."""
    story = conversing()
    request_action(story, stream_verb())
    second = current(story)
    connect(story)
    assert second != FIRST
    request_action(story, say(), FIRST)
    assert last_message(story).state == "rejected"
    assert current(story) == second
    end(story, "bot-closed")
    assert (current(story), last_message(story).state) == (FIRST, "ended")


def test_a_webhook_of_an_action_that_fails() -> None:
    """The call goes on with the bot: a bot's mistake is no end of the call."""
    story = conversing()
    request_action(story, HTTPS)
    request = story.state_as(AwaitingInstructions).request
    story.take(ActionFailed(request, "status 500"), 100)
    assert (story.state, current(story)) == ("streaming", FIRST)
    assert (last_message(story).state, story.call.reason) == ("ended", "")


def test_a_gateway_that_is_lost_during_an_action() -> None:
    """Another stream starts when the action has ended."""
    story = conversing()
    request_action(story, say())
    story.take(StreamEnded(FIRST, "gateway-lost", 900, "m1"))
    assert len(starts(story)) == 1
    finish_playback(story)
    assert starts(story)[-1].resume == Resume(FIRST, 900, "m1")


def test_a_bot_that_closes_during_an_action() -> None:
    """The action runs to its end, then the tree continues."""
    story = conversing(say("bye"))
    request_action(story, say())
    before = story.call.state
    story.take(StreamEnded(FIRST, "bot-closed", 900))
    assert story.call.state == before
    finish_playback(story)
    assert story.state == "playing"
    assert progress(story)[-1] == ("ended", "bot-closed")


def test_the_clock_is_changed_during_an_action() -> None:
    """The times of the stream that waits move, too."""
    story = conversing(maxDuration=30)
    request_action(story, say())
    (before,) = story.call.continuation
    story.take(ClockChanged(60_000))
    (after,) = story.call.continuation
    assert isinstance(before, SuspendedStream)
    assert isinstance(after, SuspendedStream)
    assert after.state.limit_ms == before.state.limit_ms + 60_000


def test_an_invited_party_interrupts_it() -> None:
    """The bot waits while the caller talks to the party, and continues after it.

    In a new bridge: Asterisk may still know the id of the first one.
    """
    story = conversing()
    leg = dial_into(story, state="answered")
    assert story.state == "bridged"
    assert states_sent(story) == ["started"]
    assert StopStream(FIRST) not in story.commands
    commands = story.take(LegEnded(leg, NORMAL), 30_000)
    assert (story.state, current(story)) == ("streaming", FIRST)
    bridge = story.state_as(Streaming).bridge
    assert AddToBridge(bridge, (MAIN, FIRST)) in commands
    assert bridge != BRIDGE
    assert states_sent(story) == ["started", "ended"]


def test_a_conversation_before_the_end_has_not_ended_the_call() -> None:
    """The bot ends the stream, and the tree the call; not the party that left before."""
    story = conversing()
    leg = dial_into(story, state="answered")
    story.take(LegEnded(leg, NORMAL), 30_000)
    end(story, "bot-closed", after_ms=5_000)
    assert (story.call.ended_by, story.call.ended_by_leg) == ("action", "")


@pytest.mark.parametrize("is_suspended", [False, True])
def test_a_stop(is_suspended: bool) -> None:
    """The tree continues, during an action when that has ended."""
    story = conversing(say("bye"))
    if is_suspended:
        request_action(story, say())
    story.call, commands = stop(story.call, FIRST, story.now)
    story.commands += commands
    assert StopStream(FIRST) in commands
    if is_suspended:
        finish_playback(story)
    assert story.call.stream(FIRST) is None
    assert progress(story)[-1] == ("ended", "stopped")
