"""What of a call's record is filtered by: its rows beside the record itself."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from api.cdrs.query.signatures import signature_of
from wire.record import CallRecord, LegRecord

AGENT_PREFIX = "agent:"
MAX_LABEL_CHARS = 256
MAX_NAME_CHARS = 128


class AgentRow(Struct, frozen=True):
    """An agent's part in a call, all of its legs together."""

    agent_id: str
    agent_name: str
    is_answered: bool
    ring_ms: int
    talk_ms: int
    hold_ms: int


def cdr_row(record: CallRecord) -> dict[str, Any]:
    """Give the columns of `cdrs` that a record fills, and its marks."""
    purposes = {each.purpose for each in record.recordings if each.state != "lost"}
    row = {
        "account_id": record.account_id,
        "req_id": record.call_id,
        "started_ms": record.created_ms,
        "client_id": label(record, "clientId"),
        "caller_id": record.caller_id,
        "to_number": record.to,
        "call_path": label(record, "callPath") or record.direction,
        "obd_type": label(record, "obdType"),
        "is_answered": is_answered(record),
        "has_recording": "call" in purposes,
        "has_voicemail": "voicemail" in purposes,
    }
    return {**row, "marks": signature_of(row, (each.agent_name for each in agent_rows(record)))}


def label(record: CallRecord, name: str) -> str | None:
    """Give a label of who made the call, or else what `customData` has under that name."""
    for given in (record.labels, record.custom_data):
        value = (given or {}).get(name)
        if isinstance(value, str) and (kept := _clean(value, MAX_LABEL_CHARS)):
            return kept
    return None


def is_answered(record: CallRecord) -> bool:
    """Tell whether somebody answered: a machine of ours that picked up is nobody.

    A call that came in was answered when one of those it called did; when it called nobody, it was
    unless it ended in a message.
    """
    if record.direction != "inbound" or not record.answered_ms:
        return record.answered_ms > 0
    if called := [leg for leg in record.legs if leg.party != record.from_]:
        return any(leg.answered_ms for leg in called)
    return all(each.purpose != "voicemail" for each in record.recordings)


def agent_rows(record: CallRecord) -> list[AgentRow]:
    """List the agents who were called, or who called."""
    legs: dict[str, list[LegRecord]] = {}
    for leg in record.legs:
        if leg.agent_id:
            legs.setdefault(leg.agent_id, []).append(leg)
    return [_together(agent_id, its) for agent_id, its in legs.items()]


def _together(agent_id: str, legs: list[LegRecord]) -> AgentRow:
    return AgentRow(
        agent_id,
        next(
            filter(None, (_clean(leg.agent_name or "", MAX_NAME_CHARS) for leg in legs)), agent_id
        ),
        any(leg.answered_ms for leg in legs),
        sum(leg.ring_ms for leg in legs),
        sum(leg.talk_ms for leg in legs),
        sum(leg.hold_ms for leg in legs),
    )


def participant_numbers(record: CallRecord) -> dict[str, bool]:
    """Tell of every number that took part whether it was called."""
    dialed = set(record.dialed_numbers)
    return {number: number in dialed for number in dict.fromkeys(_numbers(record))}


def _numbers(record: CallRecord) -> Iterator[str]:
    parties = (leg.party for leg in record.legs)
    everyone = (record.from_, record.caller_id, record.to, *record.dialed_numbers, *parties)
    yield from (each for each in everyone if each and not each.startswith(AGENT_PREFIX))


def _clean(text: str, most: int) -> str:
    """Keep what a database can hold and a list can show."""
    if not text.isprintable():
        text = "".join(each for each in text if each.isprintable())
    return text[:most]
