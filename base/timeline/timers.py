"""Moments of a call, and names of its timers: which of them has passed at a moment."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from base.timeline.state import TimelineState

TIMEOUTS = {  # by call state
    "starting": "ring timeout",
    "playing": "prompt timeout",
    "detecting": "answering machine detection decided",
    "gathering": "timeout",
    "recording": "recording over",  # it is archived, or has not been in time
    "pausing": "pause over",
    "streaming": "stream over, or another try",
    "dialing": "ring timeout",
    "bridged": "call duration limit reached",
    "awaiting-instructions": "response timeout",
    "ending": "hangup timeout",
    "archiving-recordings": "archive timeout",
}
_UNNAMED = "timeout"


class Moment(Struct, frozen=True, rename="camel"):
    """An event, the commands that it caused, the call's state after it, and the verb it started.

    Events and commands are fields with a `type`, verbs have a type and data.
    """

    at_ms: int
    event: Mapping[str, Any]
    commands: tuple[Mapping[str, Any], ...]
    state: str
    started: Mapping[str, Any] | None = None


def timer_name(moment: Moment, state: TimelineState) -> str:
    """Return which timer has passed, as far as that is certain; empty: none did."""
    if moment.event["type"] != "deadline-passed":
        return ""
    if state.gather_reason:
        return state.gather_reason.replace("-", " ")
    return _background_timer(moment, state) or _timer_of_state(moment, state)


def _background_timer(moment: Moment, state: TimelineState) -> str:
    """Return the timer that runs beside the call's state; empty: it is another one."""
    if moment.state != state.call_state:
        return ""
    types = _command_types(moment)
    if "start-recording" in types:  # it ended when its leg began to hear another party
        return "time to restart the recording"
    if "snoop" in types:
        return "time to restart the coach's audio"
    if "listen" in types:
        return "time to restart the audio of a fork"
    if any(each["type"] == "hangup" and each.get("is_repeated") for each in moment.commands):
        return "no response to a hangup, which is repeated"
    return ""


def _timer_of_state(moment: Moment, state: TimelineState) -> str:
    """Return the timer of the call's state: it may belong to a ringing or a screened leg."""
    if state.call_state == "bridged" == moment.state and not moment.commands:
        return _UNNAMED  # at its end, a party is hung up
    if state.call_state == "recording" and "stop-voicemail" in _command_types(moment):
        return "recording limit"
    is_certain = bool(state.ringing) == (state.call_state in {"starting", "dialing"})
    return TIMEOUTS.get(state.call_state, _UNNAMED) if is_certain else _UNNAMED


def _command_types(moment: Moment) -> set[str]:
    return {each["type"] for each in moment.commands}
