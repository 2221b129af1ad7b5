"""What a hangup cause means for a call (ITU-T Q.850; design section 7, "Cause map")."""

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

NORMAL = 16
BUSY = 17
NO_USER_RESPONSE = 18
NO_ANSWER = 19
REJECTED = 21
TEMPORARY_FAILURE = 41
CONGESTION = 42
LOST = 0  # it ended while nobody watched: the cause is not known

_STATUS: dict[int, Status] = {
    BUSY: "busy",
    NO_USER_RESPONSE: "no-answer",
    NO_ANSWER: "no-answer",
}


def unanswered_status(cause: int) -> Status:
    """Give the status of a party that ended with this cause before it answered."""
    return _STATUS.get(cause, "failed")


def reason(cause: int) -> str:
    """Name the causes that customers ask about; empty for the others."""
    names = {
        REJECTED: "rejected",
        TEMPORARY_FAILURE: "unavailable",
        CONGESTION: "congestion",
        LOST: "lost",
    }
    return names.get(cause, "")
