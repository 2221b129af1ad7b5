"""Stored calls, logs and their replay (design section 3.5; docs: the log tells the story)."""

import msgspec
import pytest

from engine.calls.model.codec import (
    LogEntry,
    StoredCall,
    decode_call,
    decode_log_entry,
    decode_stored_call,
    encode,
)
from engine.calls.model.events import CallOpened, LegAnswered
from engine.calls.model.io_results import ActionReceived
from engine.calls.replay import replay
from tests.unit.calls.harness.builders import (
    HTTPS,
    MAIN,
    Story,
    answered_call,
    bridged_call,
    outbound,
    say,
    tree,
)


def log(story: Story, *, opened: bytes) -> list[bytes]:
    """Write a story as its log."""
    return [opened, *(encode(LogEntry(now, event)) for now, event in story.events)]


def test_a_call_is_read_as_it_was_stored() -> None:
    """Call, outbox and the log's length survive, whatever the call is doing."""
    for story in (
        answered_call(say()),
        answered_call({"type": "gather"}),
        bridged_call("+4712345678"),
        answered_call(HTTPS),
    ):
        record = StoredCall(story.call, tuple(story.commands), 7)
        assert decode_stored_call(encode(record)) == record
        assert decode_call(encode(story.call)) == story.call


def test_an_event_is_read_as_it_was_logged() -> None:
    """A whole tree may be in an event."""
    entry = LogEntry(1, ActionReceived("r", tree(say(action=HTTPS))))
    assert decode_log_entry(encode(entry)) == entry


def test_what_is_no_call_is_refused() -> None:
    """Decoding gives valid values or an error."""
    with pytest.raises(msgspec.DecodeError):
        decode_call(encode(["no", "call"]))


def test_a_replay_gives_the_same() -> None:
    """The log run through the core again gives the same call and the same commands."""
    story = bridged_call("+4712345678", action=say())
    story.hang_up()
    moments = list(replay(log(story, opened=encode(outbound_of(story)))))
    assert moments[-1].call == story.call
    assert [each for moment in moments for each in moment.commands] == story.commands
    assert [moment.at_ms for moment in moments] == [now for now, _ in story.events]


def test_an_empty_log_is_no_story() -> None:
    """Nothing logged, or its first line lost: nothing to tell."""
    assert list(replay([])) == []
    assert list(replay([b"", encode(LogEntry(1, CallOpened()))])) == []


def test_a_lost_line_ends_the_story() -> None:
    """The store gives a lost entry as empty bytes: what came before it is still told."""
    lines = [
        encode(outbound(say())),
        encode(LogEntry(1, CallOpened())),
        b"",
        encode(LogEntry(2, LegAnswered(MAIN))),
    ]
    assert [moment.event for moment in replay(lines)] == [CallOpened()]


def outbound_of(story: Story) -> object:
    """Give the call of `talking` as it was opened."""
    del story
    dial = {"type": "dial", "data": {"number": ["+4712345678"]}, "action": say()}
    return outbound(dial)
