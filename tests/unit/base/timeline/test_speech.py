"""Rows for the recognizer of a gather."""

from typing import Any

import pytest

from base.timeline.speech import recognizer_command_row, recognizer_event_row
from base.timeline.state import TimelineState
from base.timeline.streams import stream_event_row
from wire.views import Lifeline, TimelineRow

STREAM = "c.w2"
START: dict[str, Any] = {
    "type": "start-stream",
    "stream": STREAM,
    "data": {"url": "wss://recognizer.invalid"},
    "recognition": {"recognizer": "grammar", "start": {}},
}


@pytest.fixture
def state() -> TimelineState:
    """Return the state of a timeline in which a recognizer listens."""
    started = TimelineState("+4799")
    row = recognizer_command_row(START, started)
    assert row is not None
    assert row.text == "grammar listens"
    assert started.lifelines[STREAM] == Lifeline(STREAM, "stream", "A", "grammar")
    return started


def of(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "stream": STREAM, **fields}


def text(row: TimelineRow | None) -> str:
    assert row is not None
    return row.text


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (of("stream-connected", connect_ms=9), "recognizer connected"),
        (of("stream-speech-changed", is_speaking=True), "an utterance begins"),
        (of("stream-speech-changed", is_speaking=False), "the utterance is over"),
        (of("stream-interrupted", outcome="paused"), "a sound of the caller pauses the prompt"),
        (
            of("speech-understood", text="sales", confidence=0.934, is_voice=True),
            "understood “sales” (0.93)",
        ),
        (
            of("speech-understood", text="", confidence=0.0, is_voice=True),
            "nothing understood",
        ),
        (
            of("speech-understood", text="", confidence=0.0, is_voice=False),
            "no speech, but a noise",
        ),
        (of("stream-ended", reason="bot-lost"), "recognizer lost: bot-lost"),
        (
            of("stream-ended", reason="bot-closed", detail="unknown-words: xyzzq"),
            "recognizer lost: unknown-words: xyzzq",
        ),
    ],
)
def test_what_a_recognizer_does(state: TimelineState, event: dict[str, Any], expected: str) -> None:
    assert text(recognizer_event_row(event, state)) == expected


def test_streams_of_bots_have_rows_of_their_own() -> None:
    """The words of a recognizer are for its own stream only."""
    event = of("stream-connected", connect_ms=9)
    assert recognizer_event_row(event, TimelineState("+4799")) is None
    assert text(stream_event_row(event, TimelineState("+4799"))) == "bot connected in 9 ms"


def test_the_prompt_pauses(state: TimelineState) -> None:
    for kind, expected in (("pause-playback", "♪ pauses"), ("resume-playback", "♪ continues")):
        command = {"type": kind, "playback": "p"}
        assert text(recognizer_command_row(command, state)) == expected


def test_the_end(state: TimelineState) -> None:
    """Of one that listened."""
    recognizer_event_row(of("stream-connected", connect_ms=9), state)
    assert text(recognizer_command_row(of("stop-stream"), state)) == "recognizer stopped"


def test_an_end_before_it_listened(state: TimelineState) -> None:
    """A caller who seems silent may have spoken."""
    expected = "recognizer stopped: it was not ready yet"
    assert text(recognizer_command_row(of("stop-stream"), state)) == expected


def test_an_end_after_a_loss(state: TimelineState) -> None:
    """Which said why."""
    recognizer_event_row(of("stream-ended", reason="bot-lost"), state)
    assert text(recognizer_command_row(of("stop-stream"), state)) == "recognizer stopped"
