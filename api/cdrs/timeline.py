"""The timeline of a call that engines no longer keep, made of its record and its events."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from api.cdrs.views import CdrView
from api.common.timestamps import parse_ms
from base.timeline.rows import Reader, TimelineRows
from base.timeline.speech import understood
from base.timeline.state import TimelineState, arrow
from base.timeline.timers import Moment
from wire.views import TimelineRow

Fields = Mapping[str, Any]
_SAME = {
    "leg-ringing": "leg-ringing", "ringing": "leg-ringing",
    "leg-answered": "leg-answered", "answered": "leg-answered",
}  # fmt: skip
_NOTHING: Fields = {"type": "recorded"}


def record_timeline(view: CdrView, reader: Reader) -> bytes:
    """Return the timeline of a record, in the shape of a call's."""
    events = [msgspec.json.decode(each) for each in view.timeline or ()]
    main = view.legs[0].channel_id if view.legs else ""
    rows = TimelineRows(TimelineState(caller=view.from_, main=main), reader)
    hosts = {each.stream_id: each.host for each in view.streams}
    found = list(_rows(rows, events, hosts))
    ended_ms = parse_ms(view.end_time)
    found += rows.of_end(view.status, view.reason or "", ended_ms)
    call = {
        "callId": view.req_id,
        "direction": view.direction,
        "from": view.from_,
        "to": view.to_number,
        "status": view.status,
        "state": "ended",
        "legs": [],
        "createdMs": parse_ms(view.start_time),
        "answeredMs": parse_ms(view.answer_time) if view.answer_time else 0,
        "endedMs": ended_ms,
        "hangupCause": view.hangup_cause,
        "endedBy": view.ended_by or "",
        "reason": view.reason or "",
        "mainChannelId": main,
    }
    timeline = {"call": call, "lifelines": rows.lifelines(), "rows": found}
    return msgspec.json.encode({**timeline, "attempts": [], "omitted": 0, "next": ""})


def _rows(
    rows: TimelineRows, events: Iterable[Fields], hosts: Mapping[str, str]
) -> Iterator[TimelineRow]:
    for each in events:
        at_ms = each["timestamp"]
        if each["event"] == "gathered" and "speech" in each:
            said = {"text": each["speech"], "confidence": each["confidence"], "is_voice": True}
            text = understood(said, each.get("reason", ""))
            if row := rows.placed(arrow(text, each["channelId"], kind="sound"), at_ms):
                yield row
            continue
        stream = each["event"] == "stream"
        event, *commands = _of_stream(each, hosts) if stream else _of_event(each)
        yield from rows.of_moment(Moment(at_ms, event, tuple(commands), ""))


def _of_event(event: Fields) -> Iterator[Fields]:
    """Yield the event and the commands of a call that a published event stands for."""
    leg, reason = event.get("channelId", ""), event.get("reason", "")
    match event["event"]:
        case "initiated":
            yield {"type": "call-opened"}
            if leg:
                yield {"type": "answer", "leg": leg}
        case "ringing" | "leg-ringing" | "answered" | "leg-answered" as name:
            yield {"type": _SAME[name], "leg": leg}
        case "leg-initiated":
            yield _NOTHING
            yield {"type": "originate", "leg": leg, "party": event.get("party", "")}
        case "leg-completed" | "completed":
            cause, sip_code = event.get("hangupCause", 0), event.get("sipCode", 0)
            ended = {"type": "leg-ended", "leg": leg, "cause": cause, "sip_code": sip_code}
            yield ended | ({"reason": reason} if event["event"] == "leg-completed" else {})
        case "leg-held" | "leg-unheld" as name:
            yield {"type": "hold-requested", "leg": leg, "held": name == "leg-held"}
        case "leg-muted" | "leg-unmuted" as name:
            yield _NOTHING
            kind = "mute" if name == "leg-muted" else "unmute"
            yield {"type": kind, "leg": leg, "direction": event.get("muted", "")}
        case "gathered":
            yield {"type": "digit-pressed", "leg": leg, "digit": event.get("dtmf") or "no digits"}
        case "media-failed":
            failed = {"source": event["source"], "reason": reason}
            yield {"type": "media-fetched", "faults": [reason], "failed": [failed]}
        case _:
            yield _NOTHING
            yield {"type": "emit-event", "event": event}


def _of_stream(event: Fields, hosts: Mapping[str, str]) -> Iterator[Fields]:
    """Yield those of a stream; one that never started has no session."""
    stream = event.get("sessionId") or ""
    match event["sessionState"] if stream else "":
        case "":
            yield _NOTHING
        case "started" | "resumed":
            yield _NOTHING
            url = f"wss://{hosts.get(stream, 'bot')}/"
            yield {"type": "start-stream", "stream": stream, "data": {"url": url}}
        case "connected":
            yield {"type": "stream-connected", "stream": stream, "connect_ms": 0}
        case _:  # lost, ended
            reason = event.get("reason", "")
            yield {"type": "stream-ended", "stream": stream, "reason": reason}
