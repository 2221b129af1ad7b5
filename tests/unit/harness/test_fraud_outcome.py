"""When the fraud drill passes."""

from collections import Counter

import pytest

from tools.drills.fraud import NO_RESPONSE, WAYS, Outcome


@pytest.mark.parametrize(
    ("tried", "reasons", "is_safe"),
    [
        (2, {"403": 1, "number_type": 1}, True),
        (2, {"403": 1}, False),
        (2, {"403": 1, NO_RESPONSE: 1}, False),
        (0, {}, False),
    ],
)
def test_a_way_is_safe_if_each_number_was_refused(
    tried: int, reasons: dict[str, int], is_safe: bool
) -> None:
    """A number without a response is not refused, and a way that dialled nothing proves nothing."""
    found = Outcome(
        Counter(dict.fromkeys(WAYS, tried)), {way: Counter(reasons) for way in WAYS}, []
    )
    assert found.has_failed is not is_safe


def test_a_call_that_reached_the_carrier_fails() -> None:
    """Whatever was refused."""
    found = Outcome(
        Counter(dict.fromkeys(WAYS, 1)), {way: Counter({"403": 1}) for way in WAYS}, ["INVITE"]
    )
    assert found.has_failed
