"""What a bot may send."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from streams.bots.limits import (
    MAX_ACTIONS,
    AccountLimits,
    Accounts,
    MessageLimits,
    TooFast,
)
from streams.bots.protocols.messages import MAX_DEPTH, InvalidMessage, check_tree

# As docs/streams/protocols.md and docs/reference/verbs/common.md have them.
MAX_MESSAGE_BYTES = 1_000_000
MAX_FRAMES_PER_S = 5_000
MAX_BYTES = 64_000_000
MAX_MARKS = 600
MAX_PENDING_MARKS = 1_000
MAX_INVALID = 20
MAX_ACTION_BYTES = 65_536
VOICE_FRAMES_PER_S = 200
VOICE_BYTES = 2_000_000
VOICE_MARKS = 100
MAX_SURPLUS_FRAMES_PER_S = 20_000
MAX_SURPLUS_BYTES = 256_000_000
MAX_SURPLUS_MARKS = 6_000
VOICE_ACTIONS = 20
MAX_SURPLUS_ACTIONS = 320


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
    limits = MessageLimits(AccountLimits())
    for _ in range(MAX_FRAMES_PER_S):
        limits.check_frame(100, 5.0)
    with pytest.raises(TooFast, match="5000 frames in a second"):
        limits.check_frame(100, 999.0)
    limits.check_frame(100, 1005.0)


def test_bytes_are_counted_in_ten_seconds() -> None:
    """A few large messages cost as much as many small ones."""
    limits = MessageLimits(AccountLimits())
    for _ in range(MAX_BYTES // MAX_MESSAGE_BYTES):
        limits.check_frame(MAX_MESSAGE_BYTES, 5.0)
    with pytest.raises(TooFast, match="64000000 bytes in ten seconds"):
        limits.check_frame(1, 9_999.0)
    limits.check_frame(1, 10_005.0)


def test_marks_are_counted_in_ten_seconds() -> None:
    """Each is a report that all engines get."""
    limits = MessageLimits(AccountLimits())
    assert not any(limits.is_mark_refused(5.0, 0) for _ in range(MAX_MARKS))
    assert limits.is_mark_refused(9_999.0, 0)
    assert not limits.is_mark_refused(10_005.0, 0)


def test_marks_that_wait_have_an_end() -> None:
    """Or one clear would be more reports than engines can take."""
    limits = MessageLimits(AccountLimits())
    assert not limits.is_mark_refused(5.0, MAX_PENDING_MARKS - 1)
    assert limits.is_mark_refused(5.0, MAX_PENDING_MARKS)


def test_actions_are_counted_by_the_minute() -> None:
    """Each is work for an engine."""
    limits = MessageLimits(AccountLimits())
    assert not any(limits.is_action_refused(5.0) for _ in range(MAX_ACTIONS))
    assert limits.is_action_refused(60_004.0)
    assert not limits.is_action_refused(60_005.0)


def test_actions_of_an_account_are_counted_by_the_minute() -> None:
    """A few of each stream are not; those of other accounts neither."""
    account = AccountLimits()
    bots = [MessageLimits(account) for _ in range(20)]
    passed = [not bot.is_action_refused(5.0) for bot in bots for _ in range(MAX_ACTIONS)]
    assert sum(passed) == 20 * VOICE_ACTIONS + MAX_SURPLUS_ACTIONS
    quiet = MessageLimits(account)
    assert not any(quiet.is_action_refused(5.0) for _ in range(VOICE_ACTIONS))
    assert quiet.is_action_refused(5.0)
    another = MessageLimits(AccountLimits())
    assert not any(another.is_action_refused(5.0) for _ in range(MAX_ACTIONS))
    assert not bots[-1].is_action_refused(60_005.0)


def test_invalid_messages_are_counted_for_a_minute() -> None:
    """A bot that speaks another protocol is noticed soon; a rare fault of a long call is none."""
    limits = MessageLimits(AccountLimits())
    found = [limits.is_invalid_too_often(59_999.0) for _ in range(MAX_INVALID + 1)]
    assert found[-2:] == [False, True]
    limits = MessageLimits(AccountLimits())
    times_ms = [60_000.0 * minute for minute in range(3) for _ in range(MAX_INVALID)]
    assert not any(map(limits.is_invalid_too_often, times_ms))


class Flood:
    """Bots of one account, each of which sends as much as it may alone."""

    def __init__(self) -> None:
        self.account = AccountLimits()
        self.refused = ""

    def run(self, now_ms: float, *, messages: int = 0, size: int = 0, marks: int = 0) -> int:
        """Return how much beyond the speed of voices is sent until a bot is refused."""
        self.refused, sent = "", 0
        for _ in range(100):
            limits = MessageLimits(self.account)
            sent += self._send(limits, now_ms, messages, size)
            sent += self._mark(limits, now_ms, marks)
            if self.refused:
                break
        return sent

    def _send(self, limits: MessageLimits, now_ms: float, messages: int, size: int) -> int:
        sent = 0
        with self._refusal():
            for number in range(messages):
                limits.check_frame(size, now_ms)
                count = number + 1
                sent += count * size > VOICE_BYTES if size else count > VOICE_FRAMES_PER_S
        return sent

    def _mark(self, limits: MessageLimits, now_ms: float, marks: int) -> int:
        sent = 0
        with self._refusal():
            for number in range(marks):
                assert not limits.is_mark_refused(now_ms, 0)
                sent += number + 1 > VOICE_MARKS
        return sent

    @contextmanager
    def _refusal(self) -> Iterator[None]:
        try:
            yield
        except TooFast as error:
            self.refused = str(error)


def test_messages_of_an_account_are_counted_together() -> None:
    """By the second, and only those that are more than a voice has."""
    flood = Flood()
    most = MAX_SURPLUS_FRAMES_PER_S
    for now_ms, count in ((5.0, most), (1_004.0, 0), (1_005.0, most)):
        assert flood.run(now_ms, messages=MAX_FRAMES_PER_S) == count
        assert "the account's bots together sent over 20000 frames" in flood.refused


def test_bytes_of_an_account_are_counted_together() -> None:
    """In ten seconds."""
    flood, size = Flood(), MAX_MESSAGE_BYTES
    most = MAX_SURPLUS_BYTES // size
    for now_ms, count in ((5.0, most), (10_004.0, 0), (10_005.0, most)):
        assert flood.run(now_ms, messages=MAX_BYTES // size, size=size) == count
        assert "the account's bots together sent over 256000000 bytes" in flood.refused


def test_marks_of_an_account_are_counted_together() -> None:
    """In ten seconds."""
    flood = Flood()
    most = MAX_SURPLUS_MARKS
    for now_ms, count in ((5.0, most), (10_004.0, 0), (10_005.0, most)):
        assert flood.run(now_ms, marks=MAX_MARKS) == count
        assert "the account's bots together sent over 6000 marks" in flood.refused


def test_a_voice_does_not_notice_a_flood_of_its_account() -> None:
    """Nor does another account's flood."""
    flood = Flood()
    flood.run(5.0, messages=MAX_FRAMES_PER_S)
    flood.run(5.0, messages=MAX_BYTES // MAX_MESSAGE_BYTES, size=MAX_MESSAGE_BYTES)
    flood.run(5.0, marks=MAX_MARKS)
    for account, factor in ((flood.account, 1), (AccountLimits(), 2)):
        limits = MessageLimits(account)
        for _ in range(VOICE_FRAMES_PER_S * factor):
            limits.check_frame(VOICE_BYTES // VOICE_FRAMES_PER_S, 5.0)
        assert not any(limits.is_mark_refused(5.0, 0) for _ in range(VOICE_MARKS * factor))


def test_the_counts_of_an_account_end_with_its_last_stream() -> None:
    """Those of others stay."""
    accounts = Accounts()
    first, other = accounts.join("acme"), accounts.join("other")
    assert accounts.join("acme") is first
    accounts.leave("acme")
    assert accounts.join("acme") is first
    for _ in range(2):
        accounts.leave("acme")
    assert accounts.join("acme") is not first
    assert accounts.join("other") is other
