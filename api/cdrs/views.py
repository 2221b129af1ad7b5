"""A call record in lists and exports."""

from collections.abc import Callable, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from api.cdrs.query.pages import CdrRow
from api.cdrs.row_mapping import agent_rows, cdr_row, label
from api.common.projection import project
from api.common.recording_paths import path_of_url
from api.common.timestamps import format_ms
from api.transcripts.store import State, States
from wire.decoding.messages import decode_message
from wire.events.record import (
    CallRecord,
    ConferenceRecord,
    GatherRecord,
    LegRecord,
    RecordingRecord,
    StreamRecord,
    TakeoverRecord,
    TransferRecord,
)
from wire.media import MediaFault
from wire.party import Diversion

# Returns the signed address of an account's recording at an address; else an empty text.
SignUrl = Callable[[str, str], str]
ABSENT_STATES = frozenset({"lost", "deleted"})  # of a recording
NO_TRANSCRIPTS: States = MappingProxyType({})
_decode = partial(decode_message, shape=CallRecord)


class AgentName(Struct, frozen=True, rename="camel"):
    """An agent of a call."""

    agent_id: str
    agent_name: str


class CdrRecording(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A recording; `url` is where it is stored, `signedUrl` works without a token for minutes.

    `signedUrl` and `transcript` are shown to keys and tokens that may read recordings.
    """

    url: str
    purpose: str  # call or voicemail
    state: str  # archived; ended: it will be archived later; lost; deleted
    duration_ms: int = 0
    signed_url: str = ""
    transcript: State | None = None  # how far it is; None: there is none


class CdrView(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """An ended call. Ring, talk, hold and wait time add up to its duration, in milliseconds.

    `answeredDuration` is the time since the answer in seconds, rounded up.
    """

    req_id: str
    direction: str
    call_path: str
    from_: str = msgspec.field(name="from")
    caller_id: str  # shown to the called party
    to_number: str
    dialed_numbers: tuple[str, ...]
    status: str
    answer_status: Literal["answered", "missed"]
    start_time: str
    end_time: str
    ring_ms: int
    talk_ms: int
    hold_ms: int
    duration_ms: int
    agents: tuple[AgentName, ...]
    disposition_level1_id: str | None
    disposition_level2_id: str | None
    disposition_level3_id: str | None
    recordings: tuple[CdrRecording, ...]
    legs: tuple[LegRecord, ...]
    client_id: str | None = None
    obd_type: str | None = None
    answer_time: str | None = None
    recording_purpose: Literal["call", "voicemail"] | None = None
    hangup_cause: int = 0
    sip_code: int | None = None
    wait_ms: int = 0
    answered_duration_ms: int = 0
    answered_duration: int = 0
    ended_by: str | None = None
    ended_by_channel_id: str | None = None  # of the leg whose end ended the call
    reason: str | None = None
    unseen_ms: int = 0  # it ended unnoticed, within this time after `endTime`
    answered_by: str | None = None
    legs_omitted: int = 0
    transfers: tuple[TransferRecord, ...] = ()
    conferences: tuple[ConferenceRecord, ...] = ()
    gathered: tuple[GatherRecord, ...] = ()
    streams: tuple[StreamRecord, ...] = ()
    contact: dict[str, Any] | None = None
    privacy: bool = False  # the caller has withheld the number in `from`
    diversion: tuple[Diversion, ...] = ()  # numbers that were called before, the first one first
    custom_data: dict[str, Any] | None = None
    media_fault: MediaFault | None = None  # the first audio that could not be played
    takeovers: tuple[TakeoverRecord, ...] = ()  # by other engines, the latest ones
    caller_name: str = ""  # as the caller's network or the directory has it; empty if withheld
    timeline: tuple[Raw, ...] | None = None


def cdr_view(
    row: CdrRow,
    timeline: Sequence[bytes] | None = None,
    sign: SignUrl | None = None,
    transcripts: States = NO_TRANSCRIPTS,
) -> CdrView:
    """Return the view of a record; with its timeline, and signed addresses, if given."""
    record = _decode(row.record)
    row_values = cdr_row(record)
    answered_duration_ms = record.ended_ms - record.answered_ms if record.answered_ms else 0
    return project(
        CdrView,
        record,
        req_id=record.call_id,
        call_path=row_values["call_path"],
        to_number=record.to,
        answer_status="answered" if row_values["is_answered"] else "missed",
        start_time=format_ms(record.created_ms),
        end_time=format_ms(record.ended_ms),
        answer_time=format_ms(record.answered_ms) if record.answered_ms else None,
        duration_ms=record.ended_ms - record.created_ms,
        answered_duration_ms=answered_duration_ms,
        answered_duration=-(-answered_duration_ms // 1000),
        recordings=tuple(
            _recording(record.account_id, each, sign, transcripts) for each in record.recordings
        ),
        agents=tuple(AgentName(each.agent_id, each.agent_name) for each in agent_rows(record)),
        disposition_level1_id=row.disposition1,
        disposition_level2_id=row.disposition2,
        disposition_level3_id=row.disposition3,
        recording_purpose=_purpose(row_values),
        client_id=row_values["client_id"],
        obd_type=label(record, "obdType"),
        timeline=None if timeline is None else tuple(map(Raw, timeline)),
    )


def _recording(
    account_id: str, each: RecordingRecord, sign: SignUrl | None, transcripts: States
) -> CdrRecording:
    is_there = each.state not in ABSENT_STATES
    signed_url = sign(account_id, each.url) if sign and is_there else ""
    path = path_of_url(account_id, each.url) if transcripts else None
    transcript = transcripts.get(path.below_account) if path is not None else None
    return project(CdrRecording, each, signed_url=signed_url, transcript=transcript)


def _purpose(row_values: dict[str, Any]) -> Literal["call", "voicemail"] | None:
    if row_values["has_voicemail"]:
        return "voicemail"
    return "call" if row_values["has_recording"] else None
