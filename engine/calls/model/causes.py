"""Hangup causes (ITU-T Q.850), and the call statuses and reasons that they map to."""

from typing import Literal

Status = Literal[
    "queued",
    "initiated",
    "ringing",
    "in-progress",
    "completed",
    "busy",
    "no-answer",
    "canceled",
    "failed",
]

EndedBy = Literal["", "caller", "callee", "api", "action", "system"]

NORMAL = 16
BUSY = 17
NO_USER_RESPONSE = 18
NO_ANSWER = 19
REJECTED = 21
ANSWERED_ELSEWHERE = 26
TEMPORARY_FAILURE = 41
BEARER_UNAVAILABLE = 58  # no common codec; SIP 488
CONGESTION = 42
LOST = 0  # the leg ended while no engine listened: its cause is not known

_STATUS: dict[int, Status] = {
    BUSY: "busy",
    NO_USER_RESPONSE: "no-answer",
    NO_ANSWER: "no-answer",
}


def unanswered_status(cause: int) -> Status:
    """Return the status of a party that ended with this cause before it answered."""
    return _STATUS.get(cause, "failed")


def reason(cause: int) -> str:
    """Return the published name of a cause; empty when it has none."""
    names = {
        REJECTED: "rejected",
        TEMPORARY_FAILURE: "unavailable",
        CONGESTION: "congestion",
        LOST: "lost",
    }
    return names.get(cause, "")
