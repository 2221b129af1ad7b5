"""What went wrong in a call, as sentences: each fault belongs to the row where it shows."""

import re
from collections.abc import Mapping
from typing import Any

from base.timeline import wording
from base.timeline.state import SentRequest, TimelineState
from wire.views import TimelineFault

_NOT_ANSWERED = {  # by SIP and Q.850, with the error code
    1: ("is no number that exists", "unallocated_number"),
    2: ("has no route", "no_route"),
    3: ("has no route", "no_route"),
    17: ("is busy", "not_answered"),
    18: ("does not respond: its phone is off, or its network is lost", "not_answered"),
    19: ("did not answer in time", "not_answered"),
    20: ("is not registered", "subscriber_absent"),
    21: ("rejected the call", "rejected"),
    27: ("cannot be reached", "destination_out_of_order"),
    34: ("was not called: the carrier has no free line", "no_circuit"),
    42: ("was not called: the carrier is congested", "congestion"),
}
_UNREACHABLE_CAUSES = {2, 3, 20, 41}  # of an agent's phone, without a SIP status
_NO_RESPONSE = "never rang: the server or the network behind it sent no response in time"
_REASONS = {  # of the end of a call
    "media_timeout": "A phone sent no more audio: it or its network failed, or it left without a "
    "hangup.",
    "signaling_timeout": "A phone did not acknowledge the answer.",
    "lost": "The PBX lost the call.",
    "internal": "The engine failed, and dropped the call.",
    "answered_late": "The call was answered just when it was canceled.",
    "time_limit": "The dial's time limit ended the call.",
    "longest_call": "The limit of a call's length ended it.",
    "too_many_verbs": "The tree ran too many verbs; does it repeat itself?",
    "bridge_failed": "The PBX could not connect the parties.",
    "not_allowed": "The dial policy does not allow the number.",
    "do_not_call": "The number is on the do-not-call list.",
}
_FAILURES = {  # of requests, by the code of the reason
    "not_json": "did not return JSON",
    "timeout": "did not respond in time",
    "connect": "cannot be reached",
    "redirect": "redirected the request, which is not followed",
}
NOT_PLAYED = TimelineFault("The PBX could not play a prompt.", "not_played")
NOT_STORED = TimelineFault("The recording is lost, or not stored yet.", "not_stored")


def of_request(sent: SentRequest | None, reason: str, *, is_flow: bool = False) -> TimelineFault:
    """Return the fault of a server, or of a stored flow, that gave nothing usable."""
    who = f"The server at {sent.url}" if sent and sent.url else "A server"
    return TimelineFault(f"{'The flow' if is_flow else who} {_failure(reason)}.", _code_of(reason))


def of_unanswered(party: str, event: Mapping[str, Any]) -> TimelineFault:
    """Return why a called party did not answer."""
    reason, cause, sip_code = event.get("reason"), event["cause"], event.get("sip_code", 0)
    agent = party.removeprefix("agent:") if party.startswith("agent:") else ""
    who = f"The phone of agent {agent}" if agent else party
    is_unknown = not reason and not sip_code and cause in _UNREACHABLE_CAUSES
    if agent and (reason == "unavailable" or is_unknown):
        text = f"{who} is not registered: it is off, or cannot sign in."
        return TimelineFault(text, "agent_offline")
    if reason:
        return TimelineFault(f"{who} was not called: {wording.dial_rejection(reason)}.", reason)
    default = f"did not answer: {wording.cause(cause, sip_code)}", "not_answered"
    text, code = _NOT_ANSWERED.get(cause, default)
    status = f" (SIP {sip_code})" if sip_code and cause in _NOT_ANSWERED else ""
    return TimelineFault(f"{who} {text}{status}.", code)


def of_ring_timeout(party: str, *, rang: bool) -> TimelineFault:
    """Return why a party was not waited for any longer."""
    text = "rang, and did not answer in time" if rang else _NO_RESPONSE
    return TimelineFault(f"{party} {text}.", "not_answered")


def of_media(source: str, reason: str, text: str) -> TimelineFault:
    """Return the fault of a prompt; its source is an address, or a text that was to be spoken."""
    is_address = re.match("https?:", source)
    what = f"The prompt at {source}" if is_address else f"The prompt “{wording.shorten(source)}”"
    detail = text.removeprefix(reason).removeprefix(": ")
    if reason == "not_found":
        note = f" ({detail})" if detail else ""
        text = f"{what} cannot be fetched: it does not exist there{note}."
        return TimelineFault(text, reason)
    return TimelineFault(f"{what} could not be played: {detail or reason}.", reason)


def of_value(fault: str) -> TimelineFault:
    """Return the fault of a value in a node of a flow."""
    return TimelineFault(f"A value in a node of a flow does not fit: {fault}.", "invalid")


def of_bridge(reason: str) -> TimelineFault:
    return TimelineFault(f"The PBX could not connect the parties: {reason}.", "bridge_failed")


def of_drop(reason: str) -> TimelineFault:
    return TimelineFault(f"The engine dropped the call: {reason}.", reason)


def of_end(reason: str, state: TimelineState) -> TimelineFault | None:
    """Return why a call ended, unless another fault says it."""
    text = None if reason in state.known_faults else _REASONS.get(reason)
    return TimelineFault(text, reason) if text else None


def _failure(reason: str) -> str:
    code = _code_of(reason)
    detail = reason.partition(": ")[2]
    match code:
        case "invalid_action":
            return f"returned an action that is not valid{f': {detail}' if detail else ''}"
        case "status_nnn":
            return f"responded with status {reason.removeprefix('status_')[:3]}"
        case _:
            return _FAILURES.get(code, f"gave no usable response: {reason}")


def _code_of(reason: str) -> str:
    code = reason.partition(":")[0].strip()
    return "status_nnn" if re.fullmatch(r"status_\d+", code) else code
