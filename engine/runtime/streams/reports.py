"""Translates the reports of a gateway into call events."""

import msgspec

from engine.calls.model.stream_events import (
    SpeechUnderstood,
    StreamActionReceived,
    StreamConnected,
    StreamEnded,
    StreamEvent,
    StreamInterrupted,
    StreamMarkReached,
    StreamSpeechChanged,
)
from wire.decoding.errors import BadInput
from wire.streams import reports
from wire.tree import Limits, parse_action

# Responses that another try would get, too. A server that is deployed may answer 404, or 5xx; 408,
# 425 and 429 ask for another try.
REFUSALS = frozenset(range(400, 500)) - {404, 408, 425, 429}
MAX_SPEECH_CHARS = 1_000  # a flow keeps no longer values


def translate(report: reports.StreamReport, limits: Limits) -> StreamEvent:
    """Return the call event for a report."""
    match report:
        case reports.StreamConnected(stream, at_ms, connect_ms):
            return StreamConnected(stream, at_ms, connect_ms)
        case reports.SpeechChanged():
            return StreamSpeechChanged(
                report.stream,
                report.by,
                report.is_speaking,
                report.at_ms,
                report.heard_ms,
                report.latency_ms,
            )
        case reports.MarkHeard(stream, name, at_ms, heard_ms, is_cleared):
            return StreamMarkReached(stream, name, at_ms, heard_ms, is_cleared)
        case reports.BargedIn(stream, outcome, at_ms, heard_ms):
            return StreamInterrupted(stream, outcome, at_ms, heard_ms)
        case reports.ActionRequested():
            return _action_event(report, limits)
        case reports.StreamEnded():
            return StreamEnded(
                report.stream,
                "bot-refused" if report.http_status in REFUSALS else report.reason,
                report.heard_ms,
                report.last_mark,
                report.detail,
                report.at_ms,
            )
        case reports.Transcribed(stream, text, confidence, is_voice, at_ms):
            return SpeechUnderstood(stream, text[:MAX_SPEECH_CHARS], confidence, is_voice, at_ms)


def _action_event(report: reports.ActionRequested, limits: Limits) -> StreamActionReceived:
    stream, at_ms, heard_ms = report.stream, report.at_ms, report.heard_ms
    try:
        action = parse_action(msgspec.json.encode(report.action), limits, "action")
    except BadInput as error:
        return StreamActionReceived(stream, None, at_ms, heard_ms, str(error))
    return StreamActionReceived(stream, action, at_ms, heard_ms)
