"""Rows for media streams: the bot's lifeline, who spoke when, interruptions and marks."""

from collections.abc import Mapping
from typing import Any

from base.timeline import wording
from base.timeline.state import ENGINE, TimelineState, arrow, mark
from wire.views import TimelineRow

INTERRUPTIONS = {
    "paused": "a sound of the caller pauses the bot",
    "resumed": "no speech: the bot goes on where it stopped",
    "flushed": "the caller speaks: the rest of the bot's audio is dropped",
}
ACTION_STATES = {"started": "runs its action", "ended": "its action has ended"}


def stream_event_row(event: Mapping[str, Any], state: TimelineState) -> TimelineRow | None:
    """Return the row of what a gateway reports of a stream; None for other events."""
    match event:
        case {"type": "stream-connected", "stream": stream, "connect_ms": took_ms}:
            took = f" in {took_ms} ms" if took_ms else ""
            return arrow(f"bot connected{took}", stream, kind="success")
        case {"type": "stream-speech-changed", "stream": stream}:
            return _speech(event, stream, state)
        case {"type": "stream-mark-reached", "stream": stream, "name": name}:
            what = "flushed" if event.get("is_cleared") else "heard"
            return mark(f"mark {wording.shorten(name)} {what}", stream, "sound")
        case {"type": "stream-interrupted", "stream": stream, "outcome": outcome}:
            text = f"{INTERRUPTIONS[outcome]}, after {wording.seconds(event['heard_ms'])}"
            return mark(text, stream, "sound")
        case {"type": "stream-action-received", "stream": stream, "action": action}:
            error = event.get("error")
            text = f"action not possible: {error}" if error else wording.action(action)
            return arrow(f"bot: {text}", stream, ENGINE, kind="failure" if error else "web")
        case {"type": "stream-ended", "stream": stream, "reason": reason}:
            return _ended(event, stream, reason, state)
        case _:
            return _request_row(event)


def _request_row(event: Mapping[str, Any]) -> TimelineRow | None:
    match event:
        case {"type": "fork-requested", "data": data}:
            return mark(f"request: let {wording.host(data['url'])} listen")
        case {"type": "stream-stop-requested", "stream": stream}:
            return mark("request: stop the stream", stream)
        case {"type": "stream-text-requested", "text": text}:
            return mark(f"request: text to the bot: {wording.shorten(text)}")
        case _:
            return None


def stream_command_row(command: Mapping[str, Any], state: TimelineState) -> TimelineRow | None:
    """Return the row of a command to a stream; None for other commands."""
    match command:
        case {"type": "start-stream", "stream": stream, "data": data}:
            resumed = command.get("resume")
            again = f", from {wording.seconds(resumed['heardMs'])} on" if resumed else ""
            label = wording.host(data["url"])
            state.begin_stream(stream, label)
            return arrow(f"stream to {label}{again}", ENGINE, stream, "web")
        case {"type": "stop-stream", "stream": stream} if state.end_stream(stream):
            return arrow("stream stopped", ENGINE, stream)
        case {"type": "send-to-stream", "stream": stream, "message": message}:
            return arrow(_message(message), ENGINE, stream)
        case _:
            return None


def _speech(event: Mapping[str, Any], stream: str, state: TimelineState) -> TimelineRow:
    by, is_speaking = event["by"], event["is_speaking"]
    lifeline = stream if by == "bot" else state.main or ENGINE
    latency_ms = event.get("latency_ms")
    late = f", {latency_ms} ms after the caller" if latency_ms is not None else ""
    heard = f" after {wording.seconds(event['heard_ms'])}" if by == "bot" else ""
    if is_speaking:
        state.begin(lifeline, "prompt", f"the {by} speaks")
    else:
        state.end(lifeline, "prompt")
    text = f"the {by} speaks{late}" if is_speaking else f"the {by} is silent{heard}"
    return mark(text, lifeline, "sound")


def _ended(
    event: Mapping[str, Any], stream: str, reason: str, state: TimelineState
) -> TimelineRow | None:
    detail = f" ({wording.shorten(event['detail'])})" if event.get("detail") else ""
    heard = f", {wording.seconds(event['heard_ms'])} heard" if "heard_ms" in event else ""
    text = f"stream ended: {reason}{detail}{heard}"
    if not state.end_stream(stream):
        return None
    is_usual = reason in {"bot-closed", "stopped"}
    return arrow(text, stream, ENGINE, kind="plain" if is_usual else "failure")


def _message(message: Mapping[str, Any]) -> str:
    match message:
        case {"type": "digit", "digit": digit}:
            return f"digit {digit} to the bot"
        case {"type": "text", "text": text}:
            return f"text to the bot: {wording.shorten(text)}"
        case {"type": "action", "state": "rejected", "error": error}:
            return f"rejects its action: {error}"
        case {"state": progress}:
            return ACTION_STATES[progress]
        case _:
            return "message to the bot"
