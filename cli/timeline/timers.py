"""Names of the timers of a call: which of them has passed at an entry of its timeline."""

from cli.timeline.row import TimelineState
from wire.views import TimelineEntry

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


def timer_name(entry: TimelineEntry, state: TimelineState) -> str:
    """Return which timer has passed, as far as that is certain; empty: none did."""
    if entry.event["type"] != "deadline-passed":
        return ""
    if state.gather_reason:
        return state.gather_reason.replace("-", " ")
    return _background_timer(entry, state) or _timer_of_state(entry, state)


def _background_timer(entry: TimelineEntry, state: TimelineState) -> str:
    """Return the timer that runs beside the call's state; empty: it is another one."""
    if entry.state != state.call_state:
        return ""
    types = _command_types(entry)
    if "start-recording" in types:  # it ended when its leg began to hear another party
        return "time to restart the recording"
    if "snoop" in types:
        return "time to restart the coach's audio"
    if "listen" in types:
        return "time to restart the audio of a fork"
    if any(each["type"] == "hangup" and each.get("is_repeated") for each in entry.commands):
        return "no response to a hangup, which is repeated"
    return ""


def _timer_of_state(entry: TimelineEntry, state: TimelineState) -> str:
    """Return the timer of the call's state: it may belong to a ringing or a screened leg."""
    if state.call_state == "bridged" == entry.state and not entry.commands:
        return _UNNAMED  # at its end, a party is hung up
    if state.call_state == "recording" and "stop-voicemail" in _command_types(entry):
        return "recording limit"
    is_certain = bool(state.ringing) == (state.call_state in {"starting", "dialing"})
    return TIMEOUTS.get(state.call_state, _UNNAMED) if is_certain else _UNNAMED


def _command_types(entry: TimelineEntry) -> set[str]:
    return {each["type"] for each in entry.commands}
