"""Call records as CSV that is safe in spreadsheets, or as JSON lines."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from api.cdrs.views import CdrView
from api.common.csv_injection import encode_csv, escape_formula

SPACE = " "


def _json(value: Any) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()


COLUMNS: Mapping[str, Callable[[CdrView], Any]] = {
    "reqId": lambda cdr: cdr.req_id,
    "startTime": lambda cdr: cdr.start_time,
    "answerTime": lambda cdr: cdr.answer_time,
    "endTime": lambda cdr: cdr.end_time,
    "direction": lambda cdr: cdr.direction,
    "callPath": lambda cdr: cdr.call_path,
    "obdType": lambda cdr: cdr.obd_type,
    "clientId": lambda cdr: cdr.client_id,
    "from": lambda cdr: cdr.from_,
    "callerId": lambda cdr: cdr.caller_id,
    "callerName": lambda cdr: cdr.caller_name,
    "privacy": lambda cdr: "true" if cdr.privacy else "false",  # as in JSON
    "divertedFrom": lambda cdr: SPACE.join(each.number for each in cdr.diversion),
    "toNumber": lambda cdr: cdr.to_number,
    "dialedNumbers": lambda cdr: SPACE.join(cdr.dialed_numbers),
    "status": lambda cdr: cdr.status,
    "answerStatus": lambda cdr: cdr.answer_status,
    "ringMs": lambda cdr: cdr.ring_ms,
    "talkMs": lambda cdr: cdr.talk_ms,
    "holdMs": lambda cdr: cdr.hold_ms,
    "durationMs": lambda cdr: cdr.duration_ms,
    "waitMs": lambda cdr: cdr.wait_ms,
    "answeredDurationMs": lambda cdr: cdr.answered_duration_ms or None,
    "answeredDuration": lambda cdr: cdr.answered_duration or None,
    "agentIds": lambda cdr: ", ".join(each.agent_id for each in cdr.agents),
    "agentNames": lambda cdr: ", ".join(each.agent_name for each in cdr.agents),
    "dispositionLevel1Id": lambda cdr: cdr.disposition_level1_id,
    "dispositionLevel2Id": lambda cdr: cdr.disposition_level2_id,
    "dispositionLevel3Id": lambda cdr: cdr.disposition_level3_id,
    "hangupCause": lambda cdr: cdr.hangup_cause,
    "sipCode": lambda cdr: cdr.sip_code,
    "endedBy": lambda cdr: cdr.ended_by,
    "reason": lambda cdr: cdr.reason,
    "answeredBy": lambda cdr: cdr.answered_by,
    "recordingPurpose": lambda cdr: cdr.recording_purpose,
    "recordingUrls": lambda cdr: SPACE.join(each.url for each in cdr.recordings),
    "customData": lambda cdr: _json(cdr.custom_data),
}
TIMELINE = "timeline"


def csv_header(*, with_timeline: bool) -> bytes:
    """Return the header line."""
    return encode_csv([[*COLUMNS, *([TIMELINE] if with_timeline else [])]])


def csv_lines(cdrs: Sequence[CdrView]) -> bytes:
    """Return one line per record; the timeline is JSON."""
    return encode_csv([_cells(cdr) for cdr in cdrs])


def json_lines(cdrs: Sequence[CdrView]) -> bytes:
    """Return one line of JSON per record."""
    return b"".join(msgspec.json.encode(cdr) + b"\n" for cdr in cdrs)


def _cells(cdr: CdrView) -> list[Any]:
    cells = [escape_formula(cell_of(cdr)) for cell_of in COLUMNS.values()]
    return cells if cdr.timeline is None else [*cells, escape_formula(_json(cdr.timeline))]
