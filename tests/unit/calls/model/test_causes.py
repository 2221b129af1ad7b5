"""The mapping of Q.850 causes (design section 7, Call states)."""

import pytest

from engine.calls.model.causes import reason, unanswered_status


@pytest.mark.parametrize(
    ("cause", "status"),
    [
        (17, "busy"),
        (18, "no-answer"),
        (19, "no-answer"),
        (21, "failed"),
        (0, "failed"),
        (16, "failed"),
        (34, "failed"),
    ],
)
def test_the_status_of_a_party_that_did_not_answer(cause: int, status: str) -> None:
    """17 busy; 18, 19 no-answer; all others failed."""
    assert unanswered_status(cause) == status


def test_some_causes_have_names() -> None:
    """21 is `rejected`; normal ones have no reason."""
    assert [reason(cause) for cause in (21, 41, 42, 0)] == [
        "rejected",
        "unavailable",
        "congestion",
        "lost",
    ]
    assert reason(16) == ""
