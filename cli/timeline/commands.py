"""Rows for the commands of a call; commands without use for a reader have none."""

from collections.abc import Mapping
from typing import Any

from cli.timeline import wording
from cli.timeline.bridges import bridge_row
from cli.timeline.row import ENGINE, WEB, Kind, Row, TimelineState, mark
from cli.timeline.speech import recognizer_command_row
from cli.timeline.streams import stream_command_row

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


def command_row(command: Mapping[str, Any], call_state: str, state: TimelineState) -> Row | None:
    """Return the row of a command; `call_state` is the call's state after it."""
    match command:
        case {"type": "originate", "leg": leg, "party": party}:
            return Row(_originate(command), ENGINE, leg, opens=leg, label=party)
        case {"type": "answer", "leg": leg}:
            return Row("answers the call", ENGINE, leg, opens=leg, label=state.caller)
        case {"type": "hangup", "leg": leg, "cause": cause} if leg not in state.snoops:
            return Row(f"hang up: {wording.cause(cause)}", ENGINE, leg)
        case {"type": "start-talk-detection", "leg": leg}:
            return Row("answering machine detection", ENGINE, leg, kind="sound")
        case {"type": "stop-talk-detection", "leg": leg, "answered_by": who}:
            return Row(f"answered by: {who}", leg, kind="success" if who == "human" else "plain")
        case {"type": "send-webhook" | "send-api-request" | "load-flow" | "load-flow-node"}:
            return _request(command, state)
        case {"type": "answer-refer", "leg": leg, "accepted": accepted}:
            result = _REFER_OUTCOMES.get(command.get("outcome", "")) or (
                "succeeded" if accepted else "declined (603)"
            )
            return Row(f"REFER {result}", ENGINE, leg, kind="success" if accepted else "failure")
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
    if replaced := command.get("replaces"):
        return f"joins another call in place of {replaced[0]}"
    caller_id = f", caller id {command['caller_id']}" if command["caller_id"] else ""
    withheld = " (withheld)" if command.get("withheld") else ""
    return f"calls {command['party']}{caller_id}{withheld}"


def _sound(command: Mapping[str, Any], call_state: str, state: TimelineState) -> Row | None:
    match command:
        case {"type": "fetch-media", "sources": sources}:
            return mark(f"{_FOR.get(call_state, '')}{wording.sources(sources)}", kind="sound")
        case {"type": "play", "leg": leg, "playback": playback} if call_state == "bridged":
            state.music[playback] = leg
            return Row("♪ custom hold music", ENGINE, leg, kind="sound")
        case {"type": "stop-playback", "playback": playback} if playback in state.music:
            return Row("♪ music ends", ENGINE, state.music[playback], kind="sound")
        case {"type": "play", "leg": leg, "offset_ms": offset_ms}:
            clips = command.get("clips", ())  # the REST layer shows none
            total_ms = sum(length_ms for _key, length_ms in clips)
            length = f" {wording.seconds(total_ms)}" if clips else ""
            start = f", from {wording.seconds(offset_ms)}" if offset_ms else ""
            return Row(f"♪ plays{length}{start}", ENGINE, leg, kind="sound")
        case {"type": "stop-playback"}:
            return mark("prompt stopped", kind="faint")
        case {"type": name, "leg": leg} if name in SOUNDS:
            return Row(f"♪ {SOUNDS[name]}", ENGINE, leg, kind="sound")
        case _:
            return None


def _recording(command: Mapping[str, Any], state: TimelineState) -> Row | None:
    match command:
        case {"type": "start-recording", "leg": leg}:
            return mark(f"recording started on {state.name(leg)}", leg, "sound")
        case {"type": "mute-recording", "leg": leg, "muted": muted}:
            return mark(f"recording {'paused' if muted else 'resumed'}", leg, "sound")
        case {"type": "stop-recording", "leg": leg}:
            return mark("recording stopped", leg, "sound")
        case {"type": "archive-recordings"}:
            return mark("archiving the recording", kind="faint")
        case _:
            return None


def _request(command: Mapping[str, Any], state: TimelineState) -> Row | None:
    match command:
        case {"type": "load-flow-node", "request": request}:
            state.flow_requests.add(request)
            return None  # its result has a row
        case {"type": "send-api-request", "api": api}:
            return Row(f"sends API request {api}", ENGINE, WEB, kind="web", opens=WEB, label="API")
        case {"type": "load-flow", "request": request, "flow_id": flow_id}:
            state.flow_requests.add(request)
            return mark(f"flow {flow_id}", kind="web")
        case _:
            url, body = command["url"], command["body"]
            receiver = " (listener)" if command["request"] in state.of_listeners else ""
            text = f"webhook {wording.shorten(url)}{receiver} after {_after(body)}"
            return Row(text, ENGINE, WEB, kind="web", opens=WEB, label=wording.host(url))


def _after(body: Mapping[str, Any]) -> str:
    match body:
        case {"event": "gather", "dtmf": digits, "reason": reason}:
            return f"gather: digits “{wording.hide_sealed(digits)}” ({reason})"
        case {"event": "dial", "dial": {"status": status}}:
            return f"dial: {status}"
        case {"event": event}:
            return str(event)
        case _:
            return "?"


def _session(event: Mapping[str, Any], state: TimelineState) -> Row | None:
    match event:
        case {"event": "transfer", "sessionId": session}:
            return _transfer(session, event, state)
        case {"event": "conference", "sessionId": session}:
            return _state_change("conference", session, event, state)
        case {"event": "conference-member", "sessionId": session, "channelId": leg}:
            key = f"{session} {leg}"
            return _state_change(f"member {state.name(leg)}", key, event, state, column=leg)
        case _:
            return None


def _transfer(session: str, event: Mapping[str, Any], state: TimelineState) -> Row:
    target = "" if session in state.session_states else f" to {event.get('party', '')}"
    mode = event.get("mode", "")
    is_new = state.transfer_modes.get(session) != mode
    state.transfer_modes[session] = mode
    note = f" ({mode})" if is_new else ""
    return _state_change(f"transfer{target}", session, event, state, note)


def _state_change(  # noqa: PLR0913, PLR0917 - what changed and where
    what: str,
    key: str,
    event: Mapping[str, Any],
    state: TimelineState,
    note: str = "",
    column: str = ENGINE,
) -> Row:
    new = event["sessionState"]
    before = f"{state.session_states[key]} → " if key in state.session_states else ""
    state.session_states[key] = new
    reason = f": {event['reason']}" if event.get("reason") else ""
    kind: Kind = (
        "success" if new in _SUCCESS_STATES else "failure" if new in _FAILURE_STATES else "plain"
    )
    return mark(f"{what}: {before}{new}{note}{reason}", column, kind)
