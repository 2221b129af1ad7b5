"""What is remembered of streams for recoveries."""

from engine.calls.model.stream_events import (
    SpeechUnderstood,
    StreamConnected,
    StreamEnded,
    StreamInterrupted,
)
from engine.runtime.streams.report_feed import MAX_STREAMS, StreamMemory

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
    """Sounds and turns that nobody has heard of are over."""
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
