"""Reports of gateways as events of calls."""

import pytest

from engine.calls.model.stream_events import (
    SpeechUnderstood,
    StreamActionReceived,
    StreamConnected,
    StreamEnded,
    StreamEvent,
    StreamInterrupted,
    StreamMarkReached,
    StreamSpeechChanged,
)
from engine.runtime.streams.report_feed import (
    MAX_SPEECH_CHARS,
    MAX_STREAMS,
    StreamMemory,
    translate,
)
from engine.runtime.streams.setup import channel_format
from tests.harness.calls.builders import tree
from wire.streams import reports
from wire.tree import DEFAULT_LIMITS
from wire.verbs import StreamData


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (0, "no-websocket"),
        (200, "no-websocket"),
        (302, "no-websocket"),
        (401, "bot-refused"),
        (403, "bot-refused"),
        (404, "no-websocket"),
        (405, "bot-refused"),
        (408, "no-websocket"),
        (410, "bot-refused"),
        (425, "no-websocket"),
        (429, "no-websocket"),
        (503, "no-websocket"),
    ],
)
def test_a_response_that_another_try_would_get_too(status: int, reason: str) -> None:
    """It is a refusal; the others may be those of a server that restarts, or is busy."""
    report = reports.StreamEnded("w1", "no-websocket", 5, 0, 0, detail="HTTP", http_status=status)
    event = translate(report, DEFAULT_LIMITS)
    assert isinstance(event, StreamEnded)
    assert event.reason == reason


HANGUP = {"type": "hangup"}


@pytest.mark.parametrize(
    ("report", "event"),
    [
        (reports.StreamConnected("w1", 1, 2), StreamConnected("w1", 1, 2)),
        (
            reports.SpeechChanged("w1", "bot", True, 1, 2, 3),
            StreamSpeechChanged("w1", "bot", True, 1, 2, 3),
        ),
        (reports.MarkHeard("w1", "m", 1, 2, True), StreamMarkReached("w1", "m", 1, 2, True)),
        (reports.BargedIn("w1", "paused", 1, 2), StreamInterrupted("w1", "paused", 1, 2)),
        (
            reports.ActionRequested("w1", 1, 2, HANGUP),
            StreamActionReceived("w1", tree(HANGUP), 1, 2),
        ),
        (
            reports.StreamEnded("w1", "bot-lost", 1, 2, 3, "m", "code 1006"),
            StreamEnded("w1", "bot-lost", 3, "m", "code 1006", 1),
        ),
        (
            reports.Transcribed("w1", "x" * (MAX_SPEECH_CHARS + 1), 0.5, True, 1),
            SpeechUnderstood("w1", "x" * MAX_SPEECH_CHARS, 0.5, True, 1),
        ),
    ],
)
def test_each_report_is_an_event(report: reports.StreamReport, event: StreamEvent) -> None:
    """With all that the gateway says of it."""
    assert translate(report, DEFAULT_LIMITS) == event


def test_an_action_that_can_not_run() -> None:
    """The bot learns why."""
    event = translate(reports.ActionRequested("w1", 1, 2, {"type": "sing"}), DEFAULT_LIMITS)
    assert isinstance(event, StreamActionReceived)
    assert (event.action, event.at_ms, event.heard_ms) == (None, 1, 2)
    assert "action.type" in event.error


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (StreamData("wss://bot.example/"), "ulaw"),
        (StreamData("wss://bot.example/", "native", 8000), "slin"),
        (StreamData("wss://bot.example/", "native", 16000), "slin16"),
        (StreamData("wss://bot.example/", "native", 24000), "slin24"),
    ],
)
def test_the_format_of_a_channel(data: StreamData, name: str) -> None:
    """As Asterisk names it."""
    assert channel_format(data) == name


CONNECTED = StreamConnected("w1", 5, 20)
ENDED = StreamEnded("w1", "bot-closed")


def understood(text: str) -> SpeechUnderstood:
    return SpeechUnderstood("w1", text, confidence=0.9, is_voice=True, at_ms=7)


def test_the_last_event_of_each_kind_is_repeated_in_order() -> None:
    memory = StreamMemory()
    for event in (ENDED, understood("sales"), understood("support"), CONNECTED):
        memory.note(event)
    assert memory.events("w1") == (CONNECTED, understood("support"), ENDED)


def test_words_are_kept_when_a_noise_follows() -> None:
    """A noise alone is kept, too: the call may still wait for it."""
    memory, noise = StreamMemory(), SpeechUnderstood("w1", "", 0.0, is_voice=False, at_ms=9)
    memory.note(noise)
    assert memory.events("w1") == (noise,)
    memory.note(understood("sales"))
    memory.note(noise)
    assert memory.events("w1") == (understood("sales"),)


def test_a_recovery_needs_nothing_else() -> None:
    """Sounds and turns without a report are over."""
    memory = StreamMemory()
    memory.note(StreamInterrupted("w1", "paused", 5, heard_ms=0))
    assert memory.events("w1") == ()


def test_a_stream_that_was_ended_is_forgotten() -> None:
    memory = StreamMemory()
    memory.note(CONNECTED)
    memory.forget("w1")
    memory.forget("w1")
    assert memory.events("w1") == ()


def test_it_is_bounded() -> None:
    """The streams of which nothing was heard for the longest time are forgotten."""
    memory = StreamMemory()
    memory.note(CONNECTED)
    for number in range(MAX_STREAMS):
        memory.note(StreamConnected(f"v{number}", 5, 20))
    assert memory.events("w1") == ()
    assert memory.events("v0") != ()
