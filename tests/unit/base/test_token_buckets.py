"""An amount that grows with time, and may be owed."""

import pytest

from base.loop_cost import TokenBucket


def test_a_debt_is_paid_by_time() -> None:
    """At the rate that there is meanwhile; it never grows beyond the burst."""
    now_s, rate = 5.0, 2.0
    bucket = TokenBucket(10.0, lambda: rate, lambda: now_s)
    assert bucket.is_full
    bucket.spend(16.0)
    assert (bucket.balance(), bucket.wait_s()) == (-6.0, 3.0)
    now_s, rate = 6.0, 4.0
    assert bucket.balance() == pytest.approx(-2.0)
    assert bucket.wait_s() == pytest.approx(0.5)
    now_s = 7.0
    assert (bucket.balance(), bucket.wait_s()) == (2.0, 0.0)
    now_s = 60.0
    assert bucket.balance() == pytest.approx(10.0)
    assert bucket.is_full
