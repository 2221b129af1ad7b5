"""Stored calls, logs and their replay."""

import msgspec
import pytest

from engine.calls.model.events import CallOpened, LegAnswered
from engine.calls.model.io_results import ActionReceived
from engine.calls.model.storage_format import (
    LogEntry,
    StoredCall,
    decode_call,
    decode_log_entry,
    decode_stored_call,
    encode,
)
from engine.calls.replay_audit import replay
from tests.harness.calls.builders import (
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


def test_a_call_is_decoded_as_it_was_stored() -> None:
    """Call, outbox and the log's length survive in every state."""
    for story in (
        answered_call(say()),
        answered_call({"type": "gather"}),
        bridged_call("+4712345678"),
        answered_call(HTTPS),
    ):
        record = StoredCall(story.call, tuple(story.commands), 7)
        assert decode_stored_call(encode(record)) == record
        assert decode_call(encode(story.call)) == story.call


def test_an_event_is_decoded_as_it_was_logged() -> None:
    """An event may contain a whole tree."""
    entry = LogEntry(1, ActionReceived("r", tree(say(action=HTTPS))))
    assert decode_log_entry(encode(entry)) == entry


def test_invalid_calls_are_rejected() -> None:
    """Decoding gives valid values or an error."""
    with pytest.raises(msgspec.DecodeError):
        decode_call(encode(["no", "call"]))


def test_a_replay_gives_the_same() -> None:
    """Replaying the log gives the same call and the same commands."""
    story = bridged_call("+4712345678", action=say())
    story.hang_up()
    moments = list(replay(log(story, opened=encode(outbound_of(story)))))
    assert moments[-1].call == story.call
    assert [each for moment in moments for each in moment.commands] == story.commands
    assert [moment.at_ms for moment in moments] == [now for now, _ in story.events]


def test_an_empty_log() -> None:
    """No line, or a lost first line: there is nothing to replay."""
    assert list(replay([])) == []
    assert list(replay([b"", encode(LogEntry(1, CallOpened()))])) == []


def test_a_lost_line_ends_the_replay() -> None:
    """The store returns a lost line as empty bytes: the lines before it are replayed."""
    lines = [
        encode(outbound(say())),
        encode(LogEntry(1, CallOpened())),
        b"",
        encode(LogEntry(2, LegAnswered(MAIN))),
    ]
    assert [moment.event for moment in replay(lines)] == [CallOpened()]


def outbound_of(story: Story) -> object:
    """Return the call of `bridged_call` as it was opened."""
    del story
    dial = {"type": "dial", "data": {"number": ["+4712345678"]}, "action": say()}
    return outbound(dial)
