"""Calls whose gather understands speech, and what gateways report of its recognizer."""

from typing import Any, Literal

from engine.calls.model.call_states import Gathering
from engine.calls.model.commands import Command
from engine.calls.model.events import LegCreated
from engine.calls.model.stream_events import (
    SpeechUnderstood,
    StreamConnected,
    StreamEnded,
    StreamInterrupted,
    StreamSpeechChanged,
)
from engine.calls.model.streams import Stream
from tests.harness.calls.builders import HTTPS, Story
from tests.harness.calls.gathers import HOOK, gathering
from wire.webhooks import StreamEndReason

BOTH = ("digits", "speech")
SPEECH = ("speech",)


def listening(
    given: tuple[str, ...] = BOTH, action: Any = HOOK, *, prompt: bool = False, **data: Any
) -> Story:
    """Return a call whose recognizer listens, and whose prompt, if it has one, is played."""
    source: dict[str, Any] = {"audioUrl": HTTPS} if prompt else {}
    story = gathering(action, input=list(given), **source, **data)
    if prompt:
        story.deliver_media()
    connect(story)
    return story


def connect(story: Story) -> None:
    """Let the snoop and the stream of the recognizer exist, and the recognizer accept."""
    stream = recognizer(story)
    story.take(LegCreated(stream.snoop), 5)
    story.take(LegCreated(stream.id), 5)
    story.take(StreamConnected(stream.id, story.now, 9), 9)


def recognizer(story: Story) -> Stream:
    """Return the only recognizer."""
    (stream,) = (each for each in story.call.streams if each.is_recognizer)
    return stream


def sound(
    story: Story, outcome: Literal["paused", "resumed", "flushed"], after_ms: int = 0
) -> tuple[Command, ...]:
    """Let the gateway report what a sound of the caller does."""
    return story.take(
        StreamInterrupted(recognizer(story).id, outcome, story.now + after_ms, 0), after_ms
    )


def speak(story: Story, *, is_speaking: bool = True, after_ms: int = 0) -> tuple[Command, ...]:
    """Let an utterance begin or end."""
    event = StreamSpeechChanged(
        recognizer(story).id, "caller", is_speaking, story.now + after_ms, heard_ms=0
    )
    return story.take(event, after_ms)


def understand(
    story: Story, text: str, confidence: float = 0.9, *, is_voice: bool = True, after_ms: int = 0
) -> tuple[Command, ...]:
    """Let the recognizer deliver the transcript of an utterance."""
    event = SpeechUnderstood(recognizer(story).id, text, confidence, is_voice, story.now + after_ms)
    return story.take(event, after_ms)


def lose(story: Story, reason: StreamEndReason, detail: str = "") -> tuple[Command, ...]:
    """Let the gateway report the end of the recognizer."""
    return story.take(StreamEnded(recognizer(story).id, reason, detail=detail))


def phase(story: Story) -> str:
    """Return the phase of the gather."""
    return story.state_as(Gathering).phase
