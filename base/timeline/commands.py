"""Rows for the commands of a call; commands without use for a reader have none."""

from collections.abc import Mapping
from typing import Any

from base.timeline import faults, wording
from base.timeline.bridges import bridge_row
from base.timeline.speech import recognizer_command_row
from base.timeline.state import ENGINE, TimelineState, arrow, mark
from base.timeline.streams import stream_command_row
from wire.views import RowKind, TimelineRow

SOUNDS = {
    "start-hold-music": "music on hold",
    "stop-hold-music": "music ends",
    "start-ringing": "ringback tone",
    "stop-ringing": "ringback tone ends",
}
_FOR = {"gathering": "gather, prompt: ", "dialing": "screening: ", "bridged": "hold music: "}
_SUCCESS_STATES = {"answered", "completed", "blind_transferred", "connected", "in-progress"}
_FAILURE_STATES = {"failed", "abandoned"}
_REFER_OUTCOMES = {"in-progress": "accepted (100)", "unavailable": "failed (503)"}
_NO_ANSWER = 19


def command_row(
    command: Mapping[str, Any], call_state: str, state: TimelineState
) -> TimelineRow | None:
    """Return the row of a command; `call_state` is the call's state after it."""
    match command:
        case {"type": "originate", "leg": leg, "party": party}:
            state.dialed[leg] = party
            state.begin_leg(leg, party)
            return arrow(_originate(command), ENGINE, leg)
        case {"type": "answer", "leg": leg}:
            state.begin_leg(leg, state.caller)
            return arrow("answers the call", ENGINE, leg)
        case {"type": "hangup", "leg": leg} if leg not in state.snoops:
            return _hangup(command, leg, state)
        case {"type": "start-talk-detection", "leg": leg}:
            return arrow("answering machine detection", ENGINE, leg, "sound")
        case {"type": "stop-talk-detection", "leg": leg, "answered_by": who}:
            return arrow(f"answered by: {who}", leg, kind="success" if who == "human" else "plain")
        case {"type": "send-webhook" | "send-api-request" | "load-flow" | "load-flow-node"}:
            return _request(command, state)
        case {"type": "answer-refer", "leg": leg, "accepted": accepted}:
            result = _REFER_OUTCOMES.get(command.get("outcome", "")) or (
                "succeeded" if accepted else "declined (603)"
            )
            return arrow(f"REFER {result}", ENGINE, leg, "success" if accepted else "failure")
        case {"type": "emit-event", "event": event}:
            return _session(event, state)
        case _:
            return (
                bridge_row(command, state)
                or _recording(command, state)
                or recognizer_command_row(command, state)
                or stream_command_row(command, state)
                or _sound(command, call_state, state)
            )


def _originate(command: Mapping[str, Any]) -> str:
    if command.get("replaces"):
        return "joins another call in place of a leg"  # which one is an operator's to know
    caller_id = f", caller id {command['caller_id']}" if command.get("caller_id") else ""
    withheld = " (withheld)" if command.get("withheld") else ""
    return f"calls {command['party']}{caller_id}{withheld}"


def _hangup(command: Mapping[str, Any], leg: str, state: TimelineState) -> TimelineRow:
    cause = command["cause"]
    has_waited = state.timer and cause == _NO_ANSWER and leg not in state.answered
    fault = None
    if has_waited and leg in state.dialed:
        fault = faults.of_ring_timeout(state.dialed[leg], rang=leg in state.rang)
    state.hung_up.add(leg)
    kind: RowKind = "failure" if fault else "plain"
    return arrow(f"hang up: {wording.cause(cause)}", ENGINE, leg, kind, fault=fault)


def _sound(command: Mapping[str, Any], call_state: str, state: TimelineState) -> TimelineRow | None:
    match command:
        case {"type": "fetch-media", "sources": sources}:
            return mark(f"{_FOR.get(call_state, '')}{wording.sources(sources)}", kind="sound")
        case {"type": "play", "leg": leg, "playback": playback}:
            state.playbacks[playback] = leg
            state.begin(leg, "prompt", "plays")
            if call_state != "bridged":
                return arrow(_played(command), ENGINE, leg, "sound")
            state.music.add(playback)
            return arrow("♪ custom hold music", ENGINE, leg, "sound")
        case {"type": "stop-playback", "playback": playback}:
            if not (leg := state.playbacks.pop(playback, "")):
                return mark("prompt stopped", kind="faint")
            state.end(leg, "prompt")
            if playback in state.music:
                return arrow("♪ music ends", ENGINE, leg, "sound")
            return arrow("♪ stops", ENGINE, leg, "faint")
        case {"type": name, "leg": leg} if name in SOUNDS:
            return arrow(f"♪ {SOUNDS[name]}", ENGINE, leg, "sound")
        case _:
            return None


def _played(command: Mapping[str, Any]) -> str:
    length_ms = sum(each for _key, each in command.get("clips", ()))
    offset_ms = command.get("offset_ms", 0)
    start = f", from {wording.seconds(offset_ms)}" if offset_ms else ""
    return f"♪ plays {wording.seconds(length_ms)}{start}"


def _recording(command: Mapping[str, Any], state: TimelineState) -> TimelineRow | None:
    match command:
        case {"type": "start-recording", "leg": leg}:
            state.begin(leg, "recording", "recorded")
            return mark(f"recording started on {state.name(leg)}", leg, "sound")
        case {"type": "mute-recording", "leg": leg, "muted": muted}:
            return mark(f"recording {'paused' if muted else 'resumed'}", leg, "sound")
        case {"type": "stop-recording", "leg": leg}:
            state.end(leg, "recording")
            return mark("recording stopped", leg, "sound")
        case {"type": "archive-recordings"}:
            return mark("archiving the recording", kind="faint")
        case _:
            return None


def _request(command: Mapping[str, Any], state: TimelineState) -> TimelineRow | None:
    request = command["request"]
    match command:
        case {"type": "load-flow-node"}:
            state.flow_requests.add(request)
            return None  # its result has a row
        case {"type": "load-flow", "flow_id": flow_id}:
            state.flow_requests.add(request)
            return arrow(f"flow {flow_id}", kind="web", request=request)
        case {"type": "send-api-request", "api": api}:
            lifeline, text = state.server(request, "", f"API {api}"), f"sends API request {api}"
        case _:
            url = command["url"]
            lifeline = state.server(request, url)
            text = f"webhook {wording.shorten(url)} after {_after(command['body'])}"
    state.begin(lifeline, "request", text)
    return arrow(text, ENGINE, lifeline, "web", request=request)


def _after(body: Mapping[str, Any]) -> str:
    match body:
        case {"event": "gather", "dtmf": digits, "reason": reason}:
            return f"gather: digits “{digits}” ({reason})"
        case {"event": "dial", "dial": {"status": status}}:
            return f"dial: {status}"
        case {"event": event}:
            return str(event)
        case _:
            return "?"


def _session(event: Mapping[str, Any], state: TimelineState) -> TimelineRow | None:
    match event:
        case {"event": "transfer", "sessionId": session}:
            return _transfer(session, event, state)
        case {"event": "conference", "sessionId": session}:
            return _state_change("conference", session, event, state)
        case {"event": "conference-member", "sessionId": session, "channelId": leg}:
            change = _state_change(f"member {state.name(leg)}", f"{session} {leg}", event, state)
            return mark(change.text, leg, change.kind)
        case _:
            return None


def _transfer(session: str, event: Mapping[str, Any], state: TimelineState) -> TimelineRow:
    target = "" if session in state.session_states else f" to {event.get('party', '')}"
    mode = event.get("mode", "")
    is_new = state.transfer_modes.get(session) != mode
    state.transfer_modes[session] = mode
    note = f" ({mode})" if is_new else ""
    return _state_change(f"transfer{target}", session, event, state, note)


def _state_change(
    what: str, key: str, event: Mapping[str, Any], state: TimelineState, note: str = ""
) -> TimelineRow:
    new = event["sessionState"]
    before = f"{state.session_states[key]} → " if key in state.session_states else ""
    state.session_states[key] = new
    reason = f": {event['reason']}" if event.get("reason") else ""
    kind: RowKind = (
        "success" if new in _SUCCESS_STATES else "failure" if new in _FAILURE_STATES else "plain"
    )
    return mark(f"{what}: {before}{new}{note}{reason}", kind=kind)
