"""Builders for streams: calls that talk to a bot, and what gateways report of it."""

import json
from typing import Any

from engine.calls.model.call_states import Streaming
from engine.calls.model.commands import Command
from engine.calls.model.events import LegCreated, LegEnded
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.stream_commands import SendToStream, StartStream
from engine.calls.model.stream_events import (
    StreamActionReceived,
    StreamConnected,
    StreamEnded,
    StreamMarkReached,
    StreamSpeechChanged,
)
from tests.harness.calls.builders import ID, Story, answered_call, tree
from wire.streams.setup import ActionMessage, StreamMessage
from wire.webhooks import StreamEndReason

BOT = "wss://example.com/bot"
BRIDGE, FIRST, SECOND = f"{ID}.b1", f"{ID}.w2", f"{ID}.w3"


def stream_verb(action: Any = None, timeout: float | None = None, **data: Any) -> dict[str, Any]:
    """Return a tree that connects the caller with a bot."""
    verb: dict[str, Any] = {"type": "stream", "data": {"url": BOT, **data}}
    more = {"action": action, "timeout": timeout}
    return verb | {name: value for name, value in more.items() if value is not None}


def requested(action: Any = None, **more: Any) -> Story:
    """Return a call whose stream has been started; nothing is known of it yet."""
    return answered_call(stream_verb(action, **more))


def conversing(action: Any = None, **more: Any) -> Story:
    """Return a call whose caller and bot hear each other."""
    story = requested(action, **more)
    connect(story)
    return story


def connect(story: Story) -> tuple[Command, ...]:
    """Let the state's stream have its channel and its bot; returns all commands."""
    stream = current(story)
    return (
        *story.take(LegCreated(stream), 5),
        *story.take(StreamConnected(stream, story.now, 20), 20),
    )


def current(story: Story) -> str:
    """Return the id of the state's stream."""
    return story.state_as(Streaming).stream


def end(
    story: Story, reason: StreamEndReason, *, heard_ms: int = 0, mark: str = "", after_ms: int = 0
) -> tuple[Command, ...]:
    """Let the gateway report the end of the state's stream."""
    return story.take(StreamEnded(current(story), reason, heard_ms, mark), after_ms)


def lose_channel(story: Story) -> tuple[Command, ...]:
    """Let the channel of the state's stream end without a report."""
    return story.take(LegEnded(current(story), 16))


def speak(story: Story, *, is_speaking: bool, heard_ms: int) -> None:
    """Let the bot begin or cease to speak."""
    story.take(
        StreamSpeechChanged(current(story), "bot", is_speaking, story.now, heard_ms=heard_ms)
    )


def reach_mark(story: Story, name: str, heard_ms: int) -> None:
    """Let the audio before a mark of the bot be heard."""
    story.take(StreamMarkReached(current(story), name, story.now, heard_ms))


def request_action(story: Story, action: Any, stream: str = "") -> tuple[Command, ...]:
    """Let the bot request an action."""
    event = StreamActionReceived(stream or current(story), tree(action), story.now, 0)
    return story.take(event)


def messages(story: Story) -> list[StreamMessage]:
    """Return all messages to bots."""
    return [each.message for each in story.commands_of(SendToStream)]


def states_sent(story: Story) -> list[str]:
    """Return the states of actions that bots were sent."""
    return [each.state for each in messages(story) if isinstance(each, ActionMessage)]


def starts(story: Story) -> list[StartStream]:
    """Return all starts of streams."""
    return story.commands_of(StartStream)


def results(story: Story) -> list[dict[str, Any]]:
    """Return the results of streams that were sent to webhooks."""
    bodies = [json.loads(each.body) for each in story.commands_of(SendWebhook)]
    return [each for each in bodies if "heardMs" in each]


def progress(story: Story) -> list[tuple[str | None, str | None]]:
    """Return the progress and reason of each event of a stream."""
    return [(each.session_state, each.reason) for each in story.emitted if each.event == "stream"]
