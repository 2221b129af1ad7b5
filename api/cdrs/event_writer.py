"""Writes call records once, however often their events are delivered.

Existing rows stay. All rows of a call are written in one transaction; so a second delivery, after a
crash or not, either writes all of them or none. Every process writes rows in the same order:
otherwise two processes could deadlock.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import Raw, Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.accounts.usage import DAY_MS, Usage, add_usage
from api.cdrs.row_mapping import agent_rows, cdr_row, participant_numbers
from api.cdrs.tables import agents, bodies, cdrs, clients, digits, events, numbers
from api.db.database import INSERTS
from wire.events.call_events import VERSION
from wire.events.record import CallRecord

Row = dict[str, Any]
Rows = list[Row]
Regions = Mapping[str, str | None]
NO_REGIONS: Regions = MappingProxyType({})
# Not stored: the same in every event of a call, or part of its record.
_OMITTED = frozenset(
    {"accountId", "callId", "from", "to", "direction", "customData", "record", "version"}
)


class DecodedEvent(Struct, frozen=True):
    """A decoded event; `body` is its stored part, as JSON."""

    account_id: str
    call_id: str
    sequence_number: int
    body: bytes
    record: CallRecord | None


async def write_events(
    connection: AsyncConnection, decoded: Sequence[DecodedEvent], regions: Regions = NO_REGIONS
) -> list[CallRecord]:
    """Write events, and the records of ended calls; return the new records.

    `regions` are those of accounts, for numbers without a country code.
    """
    await _insert_rows(
        connection, events, [_event_row(each) for each in sorted(decoded, key=_order)]
    )
    records = {each.call_id: each.record for each in decoded if each.record is not None}
    if not records:
        return []
    return await _records(connection, records, regions)


async def _records(
    connection: AsyncConnection, records: dict[str, CallRecord], regions: Regions
) -> list[CallRecord]:
    in_order = [records[call_id] for call_id in sorted(records)]
    rows = [cdr_row(each, regions.get(each.account_id)) for each in in_order]
    added = _insert(connection, cdrs).returning(cdrs.c.id, cdrs.c.req_id)
    ids = {req_id: cdr_id for cdr_id, req_id in await connection.execute(added, rows)}
    new = [
        {**row, "cdr_id": ids[row["req_id"]], "region": regions.get(row["account_id"])}
        for row in rows
        if row["req_id"] in ids
    ]
    for table, of in CHILD_TABLES.items():
        await _insert_rows(
            connection, table, [part for row in new for part in of(row, records[row["req_id"]])]
        )
    await add_usage(connection, [_usage(row, records[row["req_id"]]) for row in new])
    return [records[row["req_id"]] for row in new]


async def _insert_rows(connection: AsyncConnection, table: sa.Table, rows: Rows) -> None:
    if rows:
        await connection.execute(_insert(connection, table), rows)


def _insert(connection: AsyncConnection, table: sa.Table) -> Any:
    return INSERTS[connection.dialect.name](table).on_conflict_do_nothing()


def _order(event: DecodedEvent) -> tuple[str, str, int]:
    return event.account_id, event.call_id, event.sequence_number


def _usage(row: Row, record: CallRecord) -> Usage:
    return Usage(
        row["account_id"],
        row["started_ms"] // DAY_MS,
        calls=1,
        answered_calls=int(row["is_answered"]),
        legs=len(record.legs),
        talk_ms=sum(each.talk_ms + each.hold_ms for each in record.legs),
    )


def _event_row(event: DecodedEvent) -> dict[str, Any]:
    return {
        "account_id": event.account_id,
        "call_id": event.call_id,
        "sequence_number": event.sequence_number,
        "body": event.body,
    }


def _body(row: Row, record: CallRecord) -> Rows:
    return [{"cdr_id": row["cdr_id"], "record": msgspec.json.encode(record)}]


def _agents(row: Row, record: CallRecord) -> Rows:
    common = {**_common(row), "direction": record.direction}
    return [{**common, **msgspec.structs.asdict(agent)} for agent in agent_rows(record)]


def _numbers(row: Row, record: CallRecord) -> Rows:
    return [
        {**_common(row), "number": number, "is_dialed": is_dialed}
        for number, is_dialed in participant_numbers(record, row["region"]).items()
    ]


def _client(row: Row, _record: CallRecord) -> Rows:
    names = ("account_id", "client_id")
    return [{name: row[name] for name in names}] if row["client_id"] else []


def _digits(row: Row, record: CallRecord) -> Rows:
    names = ("account_id", "started_ms", "cdr_id")
    has_input = any(each.dtmf or each.speech for each in record.gathered)
    return [{name: row[name] for name in names}] if has_input else []


def _common(row: Row) -> Row:
    return {name: row[name] for name in ("cdr_id", "account_id", "started_ms", "marks")}


CHILD_TABLES: dict[sa.Table, Callable[[Row, CallRecord], Rows]] = {
    bodies: _body,
    agents: _agents,
    numbers: _numbers,
    clients: _client,
    digits: _digits,
}


class _Head(Struct, frozen=True, rename="camel"):
    account_id: str
    call_id: str
    sequence_number: int
    version: int = 0
    record: CallRecord | None = None


_decode_head = msgspec.json.Decoder(_Head).decode


_decode_fields = msgspec.json.Decoder(dict[str, Raw]).decode


def decode_event(event: bytes | Raw) -> DecodedEvent:
    """Decode an event; raises msgspec.DecodeError, also for a newer version."""
    head = _decode_head(event)
    if head.version > VERSION:
        raise msgspec.ValidationError(f"an event of version {head.version}")
    body = {name: value for name, value in _decode_fields(event).items() if name not in _OMITTED}
    return DecodedEvent(
        head.account_id,
        head.call_id,
        head.sequence_number,
        msgspec.json.encode(body),
        head.record,
    )
