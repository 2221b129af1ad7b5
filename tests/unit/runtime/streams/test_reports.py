"""Reports of gateways as events of calls."""

import pytest

from engine.calls.model.stream_events import StreamEnded
from engine.runtime.streams.reports import translate
from wire.streams import reports
from wire.tree import DEFAULT_LIMITS


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (0, "no-websocket"),
        (200, "no-websocket"),
        (302, "no-websocket"),
        (401, "bot-refused"),
        (403, "bot-refused"),
        (404, "no-websocket"),
        (405, "bot-refused"),
        (408, "no-websocket"),
        (410, "bot-refused"),
        (425, "no-websocket"),
        (429, "no-websocket"),
        (503, "no-websocket"),
    ],
)
def test_a_response_that_another_try_would_get_too(status: int, reason: str) -> None:
    """It is a refusal; the others may be those of a server that restarts, or is busy."""
    report = reports.StreamEnded("w1", "no-websocket", 5, 0, 0, detail="HTTP", http_status=status)
    event = translate(report, DEFAULT_LIMITS)
    assert isinstance(event, StreamEnded)
    assert event.reason == reason
