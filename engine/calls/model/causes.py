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
UnreachedReason = Literal["busy", "no_answer", "rejected", "unavailable"]

NORMAL = 16
BUSY = 17
NO_USER_RESPONSE = 18  # after the answer: no ACK, or no answer to a session refresh
NO_ANSWER = 19
REJECTED = 21
NUMBER_CHANGED = 22
REDIRECTED = 23  # SIP 301 or 302, which is not followed: the phone takes no call itself
ROUTING_LOOP = 25  # SIP 483: too many hops, as of a call that goes round at the carrier
ANSWERED_ELSEWHERE = 26
INVALID_NUMBER = 28
UNSPECIFIED = 31  # sent to the caller as SIP 480
NO_CIRCUIT = 34
NETWORK_OUT_OF_ORDER = 38
TEMPORARY_FAILURE = 41
CONGESTION = 42
CHANNEL_UNAVAILABLE = 44  # after the answer: neither RTP nor RTCP (`PBX_RTP_TIMEOUT_S`)
BEARER_UNAVAILABLE = 58  # no common codec; SIP 488
INTERWORKING = 127
LOST = 0  # the leg ended while no engine listened: its cause is not known

_STATUS: dict[int, Status] = {
    BUSY: "busy",
    REDIRECTED: "busy",
    NO_USER_RESPONSE: "no-answer",
    NO_ANSWER: "no-answer",
}


def unanswered_status(cause: int) -> Status:
    """Return the status of a party that ended with this cause before it answered."""
    return _STATUS.get(cause, "failed")


_UNREACHED_REASONS: dict[int, UnreachedReason] = {
    BUSY: "busy",
    REDIRECTED: "busy",
    NO_USER_RESPONSE: "no_answer",
    NO_ANSWER: "no_answer",
    REJECTED: "rejected",
}


def unreached_reason(cause: int) -> UnreachedReason:
    """Return why a party that was called into a session was not reached."""
    return _UNREACHED_REASONS.get(cause, "unavailable")


_NAMES = {
    1: "unallocated_number",
    3: "no_route_to_destination",
    20: "subscriber_absent",
    REJECTED: "rejected",
    NUMBER_CHANGED: "number_changed",
    REDIRECTED: "redirected",
    ROUTING_LOOP: "routing_loop",
    27: "destination_out_of_order",
    INVALID_NUMBER: "invalid_number",
    UNSPECIFIED: "unspecified",
    NO_CIRCUIT: "no_circuit",
    NETWORK_OUT_OF_ORDER: "network_out_of_order",
    TEMPORARY_FAILURE: "unavailable",
    CONGESTION: "congestion",
    CHANNEL_UNAVAILABLE: "unavailable",
    BEARER_UNAVAILABLE: "incompatible",
    88: "incompatible",
    102: "network_timeout",
    INTERWORKING: "interworking",
    LOST: "lost",
}
_NAMES_AFTER_ANSWER = {CHANNEL_UNAVAILABLE: "media_timeout", NO_USER_RESPONSE: "signaling_timeout"}

# With these an answered leg ends although no party hung up.
_FAULTS = {NO_USER_RESPONSE, CHANNEL_UNAVAILABLE, BEARER_UNAVAILABLE, 88, LOST}
# With these, too, if they come of a response in the dialog. Else a BYE has named them as its Reason
# (RFC 3326), as many gateways do when their party hangs up.
_FAULTS_OF_RESPONSES = {
    27,
    NO_CIRCUIT,
    NETWORK_OUT_OF_ORDER,
    TEMPORARY_FAILURE,
    CONGESTION,
    INTERWORKING,
}


def reason(cause: int, *, is_answered: bool = False) -> str:
    """Return the published name of a cause, before or after the answer; empty: it has none."""
    after_answer = _NAMES_AFTER_ANSWER.get(cause) if is_answered else None
    return after_answer or _NAMES.get(cause, "")


def is_fault(cause: int, sip_code: int, *, is_answered: bool) -> bool:
    """Return whether no party ended the leg: its media, its signaling or the PBX failed."""
    if not is_answered:
        return cause == LOST
    return cause in _FAULTS or (sip_code > 0 and cause in _FAULTS_OF_RESPONSES)
