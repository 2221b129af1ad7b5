"""Views of recordings."""

from engine.calls.model.call import Call
from engine.calls.model.recording import Recording
from engine.calls.reporting.call_events import recording_url
from wire.views import CallRecordings, RecordingView


def call_recordings_view(call: Call) -> CallRecordings:
    return CallRecordings(call.id, recording_views(call))


def recording_views(call: Call) -> tuple[RecordingView, ...]:
    """Return one view per file; the latest segment of a file gives its state."""
    latest = {recording_url(call, recording): recording for recording in call.recordings}
    return tuple(
        RecordingView(url, recording.purpose, _state(call, recording), recording.duration_ms)
        for url, recording in latest.items()
    )


def _state(call: Call, recording: Recording) -> str:
    is_paused = recording.state == "running" and recording.muted and not call.is_ended
    return "paused" if is_paused else recording.state
