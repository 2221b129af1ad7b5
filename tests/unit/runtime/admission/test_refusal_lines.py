"""Refused calls fill no log: one line a second of an account and reason, with their number."""

from engine.runtime.admission.inbound import INTERVAL_MS, MAX_KNOWN, RefusalLines


class Clock:
    def __init__(self) -> None:
        self.ms = 1_000_000

    def now_ms(self) -> int:
        return self.ms


def test_one_line_a_second() -> None:
    """The first at once; the next one says how many there were since then."""
    clock = Clock()
    lines = RefusalLines(clock.now_ms)
    assert [lines.take("acme", "live_calls") for _ in range(5)] == [1, 0, 0, 0, 0]
    clock.ms += INTERVAL_MS - 1
    assert lines.take("acme", "live_calls") == 0
    clock.ms += 1
    assert [lines.take("acme", "live_calls") for _ in range(2)] == [6, 0]
    clock.ms += INTERVAL_MS
    assert lines.take("acme", "live_calls") == 2


def test_each_account_and_reason_has_its_line() -> None:
    """A flood of one hides no other."""
    lines = RefusalLines(Clock().now_ms)
    for _ in range(3):
        lines.take("acme", "live_calls")
    assert lines.take("acme", "call_rate") == lines.take("other", "live_calls") == 1


def test_a_clock_that_is_set_back() -> None:
    """It stops no line."""
    clock = Clock()
    lines = RefusalLines(clock.now_ms)
    lines.take("acme", "live_calls")
    clock.ms -= 3_600_000
    assert lines.take("acme", "live_calls") == 1


def test_few_accounts_are_known() -> None:
    """Of more, those whose calls were refused longest ago are forgotten."""
    lines = RefusalLines(Clock().now_ms)
    for number in range(MAX_KNOWN + 1):
        lines.take(str(number), "live_calls")
    assert [lines.take(str(each), "live_calls") for each in (MAX_KNOWN, 1, 0)] == [0, 0, 1]
