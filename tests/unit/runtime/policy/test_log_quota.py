"""What the calls of an account may write to the store."""

import pytest

from engine.runtime.policy.capacity_limits import SingleEngine
from engine.runtime.policy.log_quota import LogQuota
from wire.dial_policy import AccountDialPolicy

DAY_MS, NOW_MS = 86_400_000, 1_700_000_000_000
TWO_CALLS = AccountDialPolicy(max_calls=2)  # 200 bytes


class TwoEngines(SingleEngine):
    """There is another engine."""

    engine_count = 2


@pytest.fixture
def quota() -> LogQuota:
    """Allow 100 bytes for each call."""
    return LogQuota(SingleEngine(), 100, DAY_MS)


def test_bytes_for_each_call_that_it_may_have(quota: LogQuota) -> None:
    """Those of other accounts do not count; without a limit of calls there is none."""
    for size, is_spent in ((199, False), (1, True), (10_000, True)):
        quota.count("acme", size, NOW_MS)
        assert quota.is_spent("acme", TWO_CALLS, NOW_MS) == is_spent
    assert not quota.is_spent("other", TWO_CALLS, NOW_MS)
    assert not quota.is_spent("acme", AccountDialPolicy(), NOW_MS)


def test_an_engine_has_its_share() -> None:
    """As it has of rates."""
    quota = LogQuota(TwoEngines(), 100, DAY_MS)
    for size, is_spent in ((99, False), (1, True)):
        quota.count("acme", size, NOW_MS)
        assert quota.is_spent("acme", TWO_CALLS, NOW_MS) == is_spent


@pytest.mark.parametrize(
    ("after_ms", "more", "is_spent"),
    [
        (DAY_MS - 1, 0, True),
        (DAY_MS, 0, True),  # all of it was written at the window's end, for all that is known
        (DAY_MS + 1, 0, False),
        (DAY_MS + DAY_MS // 2, 99, False),
        (DAY_MS + DAY_MS // 2, 100, True),
        (2 * DAY_MS - 1, 200, True),
        (2 * DAY_MS, 199, False),
        (9 * DAY_MS, 199, False),
        (-1_000, 0, True),  # the clock was set back
    ],
)
def test_what_was_written_before_counts_less_and_less(
    quota: LogQuota, after_ms: int, more: int, is_spent: bool
) -> None:
    """As if it had been written at one rate."""
    quota.count("acme", 200, NOW_MS)
    if more:
        quota.count("acme", more, NOW_MS + after_ms)
    assert quota.is_spent("acme", TWO_CALLS, NOW_MS + after_ms) == is_spent
