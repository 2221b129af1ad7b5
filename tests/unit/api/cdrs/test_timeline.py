"""The timeline of a record: its events in the words of a call's own timeline."""

from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from api.cdrs.query.pages import CdrRow
from api.cdrs.timeline import record_timeline
from api.cdrs.views import cdr_view
from tests.harness.api.cdrs.records import CUSTOMER, NOON_MS, leg, record
from wire.events.record import StreamRecord


def shown(*events: dict[str, Any], **facts: Any) -> Any:
    """Return the timeline of an account's record with events, which happen one after another."""
    call = record(1, legs=(leg(CUSTOMER),), **facts)
    row = CdrRow(1, call.call_id, NOON_MS, None, None, None, msgspec.json.encode(call))
    timed = [{"timestamp": NOON_MS + at, **each} for at, each in enumerate(events)]
    view = replace(cdr_view(row), timeline=tuple(Raw(msgspec.json.encode(each)) for each in timed))
    return msgspec.json.decode(record_timeline(view, "account"))


def texts(timeline: Any) -> list[str]:
    return [each["text"] for each in timeline["rows"] if each["text"]]


def test_a_record_has_rows_of_its_events() -> None:
    """With what went wrong, and no `next`: nothing more will be."""
    found = shown(
        {"event": "initiated", "channelId": "a"},
        {"event": "answered", "channelId": "a"},
        {"event": "gathered", "channelId": "a", "dtmf": "12"},
        {"event": "gathered", "channelId": "a", "dtmf": "", "speech": "sales", "confidence": 0.9},
        {"event": "gathered", "channelId": "a", "dtmf": "", "speech": "billing", "confidence": 0.2,
         "reason": "no-match"},
        {"event": "leg-initiated", "channelId": "b", "party": "agent:7"},
        {"event": "leg-completed", "channelId": "b", "hangupCause": 41, "reason": "unavailable"},
        {"event": "media-failed", "channelId": "a", "source": "https://x/y.wav",
         "reason": "not_found"},
        {"event": "leg-held", "channelId": "a"},
        {"event": "leg-muted", "channelId": "a", "muted": "in"},
        {"event": "conference", "sessionId": "f", "sessionState": "init"},
        {"event": "completed", "channelId": "a", "hangupCause": 16},
    )  # fmt: skip
    assert texts(found) == [
        "answers the call",
        "answered",
        "presses 12",
        "understood “sales” (0.90)",
        "understood “billing” (0.20): no match",
        "calls agent:7",
        "not dialed: its phone is not registered, or not known to the PBX (unavailable)",
        "audio is not available: not_found, https://x/y.wav",
        "request: hold A",
        "muted (inbound)",
        "conference: init",
        "hung up: normal clearing (16)",
        "call ended: completed",
    ]
    codes = [each["fault"]["code"] for each in found["rows"] if "fault" in each]
    assert codes == ["agent_offline", "not_found"]
    assert (found["next"], found["attempts"], found["call"]["state"]) == ("", [], "ended")


def test_a_stream_has_a_lifeline_with_its_host() -> None:
    """One that never started has none."""
    stream = StreamRecord("c.w2", "twilio", "bot.example", NOON_MS, NOON_MS + 9, 5, "bot-closed")
    event = {"event": "stream", "channelId": "a", "sessionId": "c.w2"}
    found = shown(
        {**event, "sessionState": "started"},
        {**event, "sessionState": "connected"},
        {**event, "sessionState": "ended", "reason": "bot-closed"},
        {"event": "stream", "sessionState": "ended", "reason": "too-many-forks"},
        streams=(stream,),
    )
    assert texts(found)[:-1] == [
        "stream to bot.example",
        "bot connected",
        "stream ended: bot-closed",
    ]
    assert "bot.example" in [each.get("label") for each in found["lifelines"]]
