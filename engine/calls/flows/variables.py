"""Named values of a call: its parties, its contact and custom data, and its flow variables.

Variables are stored under their full name (`vars.tier`, `answers.lookup.name`, `digits`). Their
number and size are limited, because they are stored with every step of the call.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from engine.calls.flows.templates import to_text
from engine.calls.model.call import Call
from engine.calls.model.call_states import Advance
from engine.calls.model.recording import Recording
from engine.calls.reporting.call_events import recording_fields
from wire.flow import Scalar
from wire.webhooks import DialResult

MAX_VARIABLES = 64
MAX_VARIABLE_CHARS = 1_024
MAX_TOTAL_CHARS = 8_192


def value_of(call: Call, name: str) -> Any:
    """Return the value of a name, or None."""
    if name in call.variables:
        return call.variables[name]
    root, *steps = name.split(".")
    match root:
        case "contact":
            value: Any = call.contact
        case "custom":
            value = call.custom_data
        case "call":
            value = _call_fields(call)
        case _:
            return None
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _call_fields(call: Call) -> dict[str, Scalar]:
    return {
        "id": call.id,
        "from": call.from_,
        "to": call.to,
        "direction": call.direction,
        "channelId": call.main,
        "privacy": call.privacy,
        "callerName": call.caller_name,
        "divertedFrom": call.diversion[0].number if call.diversion else "",
    }


def set_variables(call: Call, values: Mapping[str, Scalar | None]) -> Call | None:
    """Set variables and remove those that are None; returns None when they exceed a limit."""
    if not values:
        return call
    merged = {name: each for name, each in {**call.variables, **values}.items() if each is not None}
    lengths = [len(to_text(each)) for each in merged.values()]
    is_too_large = sum(lengths) > MAX_TOTAL_CHARS or max(lengths, default=0) > MAX_VARIABLE_CHARS
    if len(merged) > MAX_VARIABLES or is_too_large:
        return None
    return replace(call, variables=merged)


def verb_results(call: Call, ended: Advance) -> dict[str, Scalar | None]:
    """Return the variables that a verb sets when it has ended: its `results`."""
    match ended.event:
        case "gather":
            return {"digits": ended.digits, "speech": ended.speech or None}
        case "dial":
            return _dial_results(ended.dial) if ended.dial is not None else {}
        case "record":
            voicemails = [each for each in call.recordings if each.purpose == "voicemail"]
            return _voicemail_results(call, voicemails[-1]) if voicemails else {}
        case "stream":
            return {"stream.reason": ended.stream_reason}
        case _:
            return {}


def _dial_results(dial: DialResult) -> dict[str, Scalar | None]:
    return {
        "dial.status": dial.status,
        "dial.cause": dial.cause,
        "dial.duration": dial.duration,
        "dial.number": dial.number,
        "dial.answeredBy": dial.answered_by,
        "dial.reason": dial.reason,
    }


def _voicemail_results(call: Call, recording: Recording) -> dict[str, Scalar | None]:
    fields = recording_fields(call, recording) if recording.state != "lost" else {}
    return {
        "record.url": fields.get("recording_url"),
        "record.duration": fields.get("recording_duration"),
    }
