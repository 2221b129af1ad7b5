"""What a call knows by name: its parties, its contact and custom data, and its variables.

Variables are kept under their whole name (`vars.tier`, `answers.lookup.name`, `digits`), and there
is a limit to them: they are stored with each step of the call.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from engine.calls.flows.templates import to_text
from engine.calls.model.call import Call
from engine.calls.model.recording import Recording
from engine.calls.model.state import Advance
from engine.calls.reporting.call_events import recording_fields
from wire.flow import Scalar

MAX_VARIABLES = 64
MAX_VARIABLE_CHARS = 1_024  # of one
MAX_TOTAL_CHARS = 8_192


def value_of(call: Call, name: str) -> Any:
    """Give the value of a name; None when there is none."""
    if name in call.variables:
        return call.variables[name]
    root, *steps = name.split(".")
    match root:
        case "contact":
            found: Any = call.contact
        case "custom":
            found = call.custom_data
        case "call":
            found = _call_fields(call)
        case _:
            return None
    for step in steps:
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _call_fields(call: Call) -> dict[str, Scalar]:
    return {
        "id": call.id,
        "from": call.from_,
        "to": call.to,
        "direction": call.direction,
        "channelId": call.main,
    }


def set_variables(call: Call, values: Mapping[str, Scalar | None]) -> Call | None:
    """Set variables, or take out those that are None; None when there is no room for them."""
    if not values:
        return call
    merged = {name: each for name, each in {**call.variables, **values}.items() if each is not None}
    lengths = [len(to_text(each)) for each in merged.values()]
    is_fit = len(merged) <= MAX_VARIABLES and sum(lengths) <= MAX_TOTAL_CHARS
    if not is_fit or any(length > MAX_VARIABLE_CHARS for length in lengths):
        return None
    return replace(call, variables=merged)


def verb_results(call: Call, after: Advance) -> dict[str, Scalar | None]:
    """Name what a verb that has ended brought."""
    match after.event:
        case "gather":
            return {"digits": after.digits}
        case "dial" if after.dial is not None:
            dial = after.dial
            return {
                "dial.status": dial.status,
                "dial.cause": dial.cause,
                "dial.duration": dial.duration,
                "dial.number": dial.number,
                "dial.answeredBy": dial.answered_by,
                "dial.reason": dial.reason,
            }
        case "record":
            messages = [tape for tape in call.recordings if tape.purpose == "voicemail"]
            return _voicemail_results(call, messages[-1]) if messages else {}
        case _:
            return {}


def _voicemail_results(call: Call, tape: Recording) -> dict[str, Scalar | None]:
    facts = recording_fields(call, tape) if tape.state != "lost" else {}
    return {
        "record.url": facts.get("recording_url"),
        "record.duration": facts.get("recording_duration"),
    }
