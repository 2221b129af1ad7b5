"""Rows for the recognizer of a gather: its lifeline, what it understood, and what sounds do."""

from collections.abc import Mapping
from typing import Any

from base.timeline import wording
from base.timeline.state import ENGINE, TimelineState, arrow, mark
from wire.views import TimelineRow

_SOUNDS = {
    "paused": "a sound of the caller pauses the prompt",
    "resumed": "no speech: the prompt goes on where it stopped",
    "flushed": "the caller speaks: the prompt ends",
}


def recognizer_event_row(event: Mapping[str, Any], state: TimelineState) -> TimelineRow | None:
    """Return the row of what a gateway reports of a recognizer; None for other events."""
    match event:
        case {"stream": stream} if stream not in state.recognizers:
            return None
        case {"type": "stream-connected", "stream": stream}:
            state.ready.add(stream)
            return arrow("recognizer connected", stream, kind="success")
        case {"type": "stream-speech-changed", "stream": stream, "is_speaking": is_speaking}:
            text = "an utterance begins" if is_speaking else "the utterance is over"
            return mark(text, stream, "sound")
        case {"type": "stream-interrupted", "stream": stream, "outcome": outcome}:
            return mark(_SOUNDS[outcome], stream, "sound")
        case {"type": "speech-understood", "stream": stream}:
            return arrow(understood(event, state.gather_reason), stream, kind="sound")
        case {"type": "stream-ended", "stream": stream, "reason": reason}:
            detail = event.get("detail") or reason  # whole: its end says what to do
            state.end_stream(stream)
            return arrow(f"recognizer lost: {detail}", stream, ENGINE, kind="failure")
        case _:
            return None


def recognizer_command_row(command: Mapping[str, Any], state: TimelineState) -> TimelineRow | None:
    """Return the row of a command to a recognizer; None for other commands."""
    match command:
        case {"type": "start-stream", "stream": stream, "recognition": {"recognizer": name}}:
            state.begin_stream(stream, name)
            state.recognizers[stream] = name
            return arrow(f"{name} listens", ENGINE, stream, kind="web")
        case {"type": "stop-stream", "stream": stream} if stream in state.recognizers:
            was_late = state.end_stream(stream) and stream not in state.ready
            text = "recognizer stopped" + (": it was not ready yet" if was_late else "")
            return arrow(text, ENGINE, stream, kind="faint")
        case {"type": "pause-playback" | "resume-playback" as name, "playback": playback}:
            text = "♪ pauses" if name == "pause-playback" else "♪ continues"
            return arrow(text, ENGINE, state.playbacks.get(playback, ENGINE), "faint")
        case _:
            return None


def understood(event: Mapping[str, Any], gather_reason: str) -> str:
    """Return what was understood; of the gather's end only what the text does not say."""
    if not event["text"]:
        return "nothing understood" if event["is_voice"] else "no speech, but a noise"
    text = f"understood “{wording.shorten(event['text'])}” ({event['confidence']:.2f})"
    return f"{text}: no match" if gather_reason == "no-match" else text
