"""What a call did, one row a command; commands that a reader gains nothing from give none."""

from collections.abc import Mapping
from typing import Any

from engine.cli import words
from engine.cli.row import ENGINE, WEB, Row, Seen

_SOUNDS = {
    "StartMusic": "music on hold",
    "StopMusic": "music ends",
    "StartRinging": "hears ringing",
    "StopRinging": "ringing ends",
}


def deed(command: Mapping[str, Any], doing: str, seen: Seen) -> Row | None:
    """Tell a command; `doing` is what the call does from then on."""
    match command:
        case {"is": "Originate", "leg": leg, "party": party}:
            return Row(_calls(command), ENGINE, leg, opens=leg, who=party)
        case {"is": "Answer", "leg": leg}:
            return Row("answers the call", ENGINE, leg, opens=leg, who=seen.caller)
        case {"is": "Hangup", "leg": leg, "cause": cause}:
            return Row(f"hang up: {words.cause(cause)}", ENGINE, leg)
        case {"is": "Bridge", "legs": legs}:
            seen.bridge = tuple(legs)
            return Row("talking: the legs hear each other", shape="join", kind="good",
                       joined=seen.bridge)  # fmt: skip
        case {"is": "DestroyBridge"}:
            return Row("talking has ended", shape="join", kind="faint")
        case {"is": "DetectTalk", "leg": leg}:
            return Row("listens: a person or a machine?", ENGINE, leg, kind="sound")
        case {"is": "EndDetection", "leg": leg, "answered_by": who}:
            return Row(f"answered by: {who}", leg, kind="good" if who == "human" else "plain")
        case {"is": "AskWebhook" | "LoadFlow"}:
            return _asks(command, seen)
        case _:
            return _sound(command, doing)


def _calls(command: Mapping[str, Any]) -> str:
    showing = f", showing {command['caller_id']}" if command["caller_id"] else ""
    return f"calls {command['party']}{showing}"


def _sound(command: Mapping[str, Any], doing: str) -> Row | None:
    match command:
        case {"is": "FetchMedia", "sources": sources}:
            verb = "gather, prompt: " if doing == "gathering" else ""
            text = f"{verb}{words.sources(sources)}"
            return Row(text, shape="mark", kind="sound")
        case {"is": "Play", "leg": leg, "clips": clips, "offset_ms": offset_ms}:
            length = words.seconds(sum(length_ms for _key, length_ms in clips))
            onward = f", from {words.seconds(offset_ms)} on" if offset_ms else ""
            return Row(f"♪ plays {length}{onward}", ENGINE, leg, kind="sound")
        case {"is": "StopPlayback"}:
            return Row("the prompt is stopped", shape="mark", kind="faint")
        case {"is": name, "leg": leg} if name in _SOUNDS:
            return Row(f"♪ {_SOUNDS[name]}", ENGINE, leg, kind="sound")
        case _:
            return None


def _asks(command: Mapping[str, Any], seen: Seen) -> Row:
    match command:
        case {"is": "LoadFlow", "request": request, "flow_id": flow_id}:
            seen.flows.add(request)
            return Row(f"flow {flow_id}", shape="mark", kind="web")
        case _:
            url, body = command["url"], command["body"]
            text = f"asks {words.clipped(url)} after {_after(body)}"
            return Row(text, ENGINE, WEB, kind="web", opens=WEB, who=words.host(url))


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
