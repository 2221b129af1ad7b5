"""Maps call records to the rows that filters use."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from api.cdrs.query.bloom_marks import signature_of
from wire.events.record import CallRecord, LegRecord
from wire.party import Party
from wire.phone_numbers.e164 import canonical

MAX_LABEL_CHARS = 256
MAX_NAME_CHARS = 128
MAX_ID_CHARS = 64  # of an agent
# What a filter does not accept, or a database does not store. Names have other characters that are
# not printable: Japanese ones U+3000, Persian ones U+200C.
_DROPPED = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class AgentRow(Struct, frozen=True):
    """An agent's part in a call, the sum of its legs."""

    agent_id: str
    agent_name: str
    is_answered: bool
    ring_ms: int
    talk_ms: int
    hold_ms: int


def cdr_row(record: CallRecord, region: str | None = None) -> dict[str, Any]:
    """Return the columns of a row of `cdrs`, with its signature; numbers as filters give them."""
    purposes = {each.purpose for each in record.recordings if each.state not in {"lost", "deleted"}}
    row = {
        "account_id": record.account_id,
        "req_id": record.call_id,
        "started_ms": record.created_ms,
        "client_id": label(record, "clientId"),
        "caller_id": canonical(record.caller_id, region),
        "to_number": canonical(record.to, region),
        "call_path": label(record, "callPath") or record.direction,
        "obd_type": label(record, "obdType"),
        "is_answered": is_answered(record),
        "has_recording": "call" in purposes,
        "has_voicemail": "voicemail" in purposes,
    }
    return {**row, "marks": signature_of(row, (each.agent_name for each in agent_rows(record)))}


def label(record: CallRecord, name: str) -> str | None:
    """Return a label of the call, or else the value of that name in `customData`."""
    for labels in (record.labels, record.custom_data):
        value = (labels or {}).get(name)
        if isinstance(value, str) and (cleaned := _clean(value, MAX_LABEL_CHARS)):
            return cleaned
    return None


def is_answered(record: CallRecord) -> bool:
    """Return whether a person answered; our own IVR does not count.

    An inbound call counts as answered when it was connected to one of the dialled parties (one that
    was only screened was not), or, without a dialled party, unless the caller left a voicemail. A
    failed call is not answered: its first webhook returned no usable action.
    """
    if record.status == "failed":
        return False
    if record.direction != "inbound" or not record.answered_ms:
        return record.answered_ms > 0
    if called := [leg for leg in record.legs if leg.party != record.from_]:
        return any(map(was_connected, called))
    return all(each.purpose != "voicemail" for each in record.recordings)


def was_connected(leg: LegRecord) -> bool:
    """Return whether a party has talked, or was on hold: a screened one has not."""
    return leg.talk_ms + leg.hold_ms > 0


def agent_rows(record: CallRecord) -> list[AgentRow]:
    """Return one row for each agent of a call."""
    legs: dict[str, list[LegRecord]] = {}
    for leg in record.legs:
        if agent_id := _clean(leg.agent_id or "", MAX_ID_CHARS):
            legs.setdefault(agent_id, []).append(leg)
    has_answered = _has_answered if record.direction == "outbound" else was_connected
    return [_agent_row(agent_id, its_legs, has_answered) for agent_id, its_legs in legs.items()]


def _has_answered(leg: LegRecord) -> bool:
    return leg.answered_ms > 0


def _agent_row(
    agent_id: str, legs: list[LegRecord], has_answered: Callable[[LegRecord], bool]
) -> AgentRow:
    return AgentRow(
        agent_id,
        next(
            filter(None, (_clean(leg.agent_name or "", MAX_NAME_CHARS) for leg in legs)), agent_id
        ),
        any(map(has_answered, legs)),
        sum(leg.ring_ms for leg in legs),
        sum(leg.talk_ms for leg in legs),
        sum(leg.hold_ms for leg in legs),
    )


def participant_numbers(record: CallRecord, region: str | None = None) -> dict[str, bool]:
    """Return every number that took part, in its canonical form, and whether it was dialled."""
    dialed = {canonical(number, region) for number in record.dialed_numbers}
    found = dict.fromkeys(canonical(number, region) for number in _numbers(record))
    return {number: number in dialed for number in found}


def _numbers(record: CallRecord) -> Iterator[str]:
    leg_parties = (leg.party for leg in record.legs)
    participants = (record.from_, record.caller_id, record.to, *record.dialed_numbers, *leg_parties)
    yield from (each for each in participants if each and Party.parse(each).is_by_trunk)


def _clean(text: str, max_chars: int) -> str:
    """Return a text without control characters, up to a limit."""
    return _DROPPED.sub("", text)[:max_chars]
