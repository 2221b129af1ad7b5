"""What a bot may send."""

import pytest

from streams.bots.action_trees import MAX_DEPTH, check_tree
from streams.bots.limits import (
    MAX_ACTION_BYTES,
    MAX_ACTIONS,
    MAX_BYTES,
    MAX_INVALID,
    MAX_MARKS,
    MAX_MESSAGE_BYTES,
    MAX_MESSAGES_PER_S,
    MAX_PENDING_MARKS,
    MessageLimits,
    TooFast,
)
from streams.bots.protocols.messages import InvalidMessage


@pytest.mark.parametrize(
    "tree",
    [
        b"",
        b"{",
        b"NaN",
        b'{"a": 1e999}',
        b'{"a": "\\ud800"}',
        b'"' + b"a" * MAX_ACTION_BYTES + b'"',
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
        b"[" * 30_000 + b"]" * 30_000,
    ],
    ids=len,
)
def test_an_action_that_engines_could_not_read(tree: bytes) -> None:
    """It never reaches the reports, which are those of all streams."""
    with pytest.raises(InvalidMessage):
        check_tree(tree)


def test_an_action_may_be_nested() -> None:
    """Trees are."""
    check_tree(b'{"type":"say","data":{"text":"hi"}}')
    check_tree(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)


def test_messages_are_counted_by_the_second() -> None:
    """Those of the second before are forgotten."""
    limits = MessageLimits()
    for _ in range(MAX_MESSAGES_PER_S):
        limits.check_message(100, 5.0)
    with pytest.raises(TooFast, match="5000 messages in a second"):
        limits.check_message(100, 999.0)
    limits.check_message(100, 1005.0)


def test_bytes_are_counted_in_ten_seconds() -> None:
    """A few large messages cost as much as many small ones."""
    limits = MessageLimits()
    for _ in range(MAX_BYTES // MAX_MESSAGE_BYTES):
        limits.check_message(MAX_MESSAGE_BYTES, 5.0)
    with pytest.raises(TooFast, match="64000000 bytes in ten seconds"):
        limits.check_message(1, 9_999.0)
    limits.check_message(1, 10_005.0)


def test_marks_are_counted_in_ten_seconds() -> None:
    """Each is a report that all engines get."""
    limits = MessageLimits()
    assert not any(limits.is_mark_refused(5.0, 0) for _ in range(MAX_MARKS))
    assert limits.is_mark_refused(9_999.0, 0)
    assert not limits.is_mark_refused(10_005.0, 0)


def test_marks_that_wait_have_an_end() -> None:
    """Or one clear would be more reports than engines can take."""
    limits = MessageLimits()
    assert not limits.is_mark_refused(5.0, MAX_PENDING_MARKS - 1)
    assert limits.is_mark_refused(5.0, MAX_PENDING_MARKS)


def test_actions_are_counted_by_the_minute() -> None:
    """Each is work for an engine."""
    limits = MessageLimits()
    assert not any(limits.is_action_refused(5.0) for _ in range(MAX_ACTIONS))
    assert limits.is_action_refused(59_000.0)
    assert not limits.is_action_refused(61_000.0)


def test_invalid_messages_are_counted_for_ever() -> None:
    """A bot that speaks another protocol is noticed soon."""
    limits = MessageLimits()
    assert [limits.is_invalid_too_often() for _ in range(MAX_INVALID + 1)][-2:] == [False, True]
