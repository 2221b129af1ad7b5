"""The mapping of Q.850 causes."""

import pytest

from engine.calls.model.causes import is_fault, reason, unanswered_status, unreached_reason


@pytest.mark.parametrize(
    ("cause", "status"),
    [
        (17, "busy"),
        (18, "no-answer"),
        (19, "no-answer"),
        (21, "failed"),
        (22, "failed"),
        (23, "busy"),
        (0, "failed"),
        (16, "failed"),
        (34, "failed"),
    ],
)
def test_the_status_of_a_party_that_did_not_answer(cause: int, status: str) -> None:
    """17 and a phone that forwards its calls busy; 18, 19 no-answer; all others failed."""
    assert unanswered_status(cause) == status


def test_why_a_party_was_not_reached() -> None:
    """Members and targets have different reasons for busy, no answer and a rejection."""
    assert [unreached_reason(cause) for cause in (17, 23, 18, 19, 21, 41)] == [
        "busy", "busy", "no_answer", "no_answer", "rejected", "unavailable",
    ]  # fmt: skip


def test_some_causes_have_names() -> None:
    """21 is `rejected`; normal ones have no reason."""
    assert [reason(cause) for cause in (20, 21, 41, 42, 0)] == [
        "subscriber_absent",
        "rejected",
        "unavailable",
        "congestion",
        "lost",
    ]
    assert reason(16) == ""
    assert len({reason(cause) for cause in (1, 20, 31, 34, 38, 42, 44, 58)}) == 8


def test_names_after_the_answer() -> None:
    """44 and 18 mean that the phone no longer responds; no party ended the leg."""
    assert reason(44, is_answered=True) == "media_timeout"
    assert reason(18, is_answered=True) == "signaling_timeout"
    assert all(is_fault(cause, 0, is_answered=True) for cause in (0, 18, 44, 58))
    assert not is_fault(16, 0, is_answered=True)
    assert not is_fault(44, 0, is_answered=False)


def test_a_fault_that_a_party_names() -> None:
    """A BYE may have any cause as its Reason: a fault is a response that failed."""
    for cause in (38, 41, 127):
        assert not is_fault(cause, 0, is_answered=True)
        assert is_fault(cause, 481, is_answered=True)
