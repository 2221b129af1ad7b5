"""What a call did, one row a command; commands that a reader gains nothing from give none."""

from collections.abc import Mapping
from typing import Any

from engine.cli.timeline import wording
from engine.cli.timeline.bridges import bridge_row
from engine.cli.timeline.recordings import recording_row
from engine.cli.timeline.row import ENGINE, WEB, Row, TimelineState
from engine.cli.timeline.sessions import session_row as session_state

_SOUNDS = {
    "start-hold-music": "music on hold",
    "stop-hold-music": "music ends",
    "start-ringing": "hears ringing",
    "stop-ringing": "ringing ends",
}
_FOR = {"gathering": "gather, prompt: ", "dialing": "screening: ", "bridged": "for who waits: "}


def command_row(command: Mapping[str, Any], state: str, seen: TimelineState) -> Row | None:
    """Tell a command; `state` is the call's from then on."""
    match command:
        case {"type": "originate", "leg": leg, "party": party}:
            return Row(_calls(command), ENGINE, leg, opens=leg, label=party)
        case {"type": "answer", "leg": leg}:
            return Row("answers the call", ENGINE, leg, opens=leg, label=seen.caller)
        case {"type": "hangup", "leg": leg, "cause": cause} if leg not in seen.snoops:
            return Row(f"hang up: {wording.cause(cause)}", ENGINE, leg)
        case {"type": "start-talk-detection", "leg": leg}:
            return Row("listens: a person or a machine?", ENGINE, leg, kind="sound")
        case {"type": "stop-talk-detection", "leg": leg, "answered_by": who}:
            return Row(f"answered by: {who}", leg, kind="good" if who == "human" else "plain")
        case {"type": "send-webhook" | "send-api-request" | "load-flow" | "load-flow-node"}:
            return _asks(command, seen)
        case {"type": "answer-refer", "leg": leg, "accepted": accepted}:
            said = "accepted" if accepted else "declined (603)"
            return Row(f"its REFER is {said}", ENGINE, leg, kind="good" if accepted else "bad")
        case {"type": "emit-event", "event": told}:
            return session_state(told, seen)
        case _:
            return (
                bridge_row(command, seen)
                or recording_row(command, seen)
                or _sound(command, state, seen)
            )


def _calls(command: Mapping[str, Any]) -> str:
    showing = f", showing {command['caller_id']}" if command["caller_id"] else ""
    return f"calls {command['party']}{showing}"


def _sound(command: Mapping[str, Any], state: str, seen: TimelineState) -> Row | None:
    match command:
        case {"type": "fetch-media", "sources": sources}:
            text = f"{_FOR.get(state, '')}{wording.sources(sources)}"
            return Row(text, shape="mark", kind="sound")
        case {"type": "play", "leg": leg, "playback": playback} if state == "bridged":
            seen.music[playback] = leg
            return Row("♪ music of its own", ENGINE, leg, kind="sound")
        case {"type": "stop-playback", "playback": playback} if playback in seen.music:
            return Row("♪ music ends", ENGINE, seen.music[playback], kind="sound")
        case {"type": "play", "leg": leg, "clips": clips, "offset_ms": offset_ms}:
            length = wording.seconds(sum(length_ms for _key, length_ms in clips))
            onward = f", from {wording.seconds(offset_ms)} on" if offset_ms else ""
            return Row(f"♪ plays {length}{onward}", ENGINE, leg, kind="sound")
        case {"type": "stop-playback"}:
            return Row("the prompt is stopped", shape="mark", kind="faint")
        case {"type": name, "leg": leg} if name in _SOUNDS:
            return Row(f"♪ {_SOUNDS[name]}", ENGINE, leg, kind="sound")
        case _:
            return None


def _asks(command: Mapping[str, Any], seen: TimelineState) -> Row | None:
    match command:
        case {"type": "load-flow-node", "request": request}:
            seen.flow_requests.add(request)
            return None  # told when it is there
        case {"type": "send-api-request", "api": api}:
            return Row(f"sends API request {api}", ENGINE, WEB, kind="web", opens=WEB, label="API")
        case {"type": "load-flow", "request": request, "flow_id": flow_id}:
            seen.flow_requests.add(request)
            return Row(f"flow {flow_id}", shape="mark", kind="web")
        case _:
            url, body = command["url"], command["body"]
            text = f"asks {wording.shorten(url)} after {_after(body)}"
            return Row(text, ENGINE, WEB, kind="web", opens=WEB, label=wording.host(url))


def _after(body: Mapping[str, Any]) -> str:
    match body:
        case {"event": "gather", "dtmf": digits, "reason": reason}:
            return f"gather: digits “{digits}”, by {reason}"
        case {"event": "dial", "dial": {"status": status}}:
            return f"dial: {status}"
        case {"event": event}:
            return str(event)
        case _:
            return "?"
