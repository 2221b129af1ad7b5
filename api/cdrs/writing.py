"""Call records in the database, written: once each, however often their events come.

What is there already stays. All rows of a call come with its first, in one transaction; so what
was cut off by a crash, or came twice, is made whole or left alone by being told again. Rows are
written in one order by everybody, or two processes could wait for each other for ever.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from api.cdrs.rows import agents_of, label, numbers_of, row_of
from api.cdrs.tables import agents, bodies, cdrs, clients, events, numbers
from api.cdrs.told import Told
from api.db import INSERTS
from wire.record import CallRecord

Rows = list[dict[str, Any]]


async def write(connection: AsyncConnection, told: Sequence[Told]) -> int:
    """Keep events, and the records of calls that have ended; returns how many of these are new."""
    await _put(connection, events, [_moment(each) for each in sorted(told, key=_place)])
    records = {each.call_id: each.record for each in told if each.record is not None}
    if not records:
        return 0
    return await _records(connection, records)


async def _records(connection: AsyncConnection, records: dict[str, CallRecord]) -> int:
    rows = [row_of(records[call_id]) for call_id in sorted(records)]
    added = _insert(connection, cdrs).returning(cdrs.c.id, cdrs.c.req_id)
    new = {req_id: cdr_id for cdr_id, req_id in await connection.execute(added, rows)}
    for table, of in PARTS.items():
        its = [row for req_id in sorted(new) for row in of(new[req_id], records[req_id])]
        await _put(connection, table, its)
    return len(new)


async def _put(connection: AsyncConnection, table: sa.Table, rows: Rows) -> None:
    if rows:
        await connection.execute(_insert(connection, table), rows)


def _insert(connection: AsyncConnection, table: sa.Table) -> Any:
    return INSERTS[connection.dialect.name](table).on_conflict_do_nothing()


def _place(event: Told) -> tuple[str, str, int]:
    return event.account_id, event.call_id, event.sequence_number


def _moment(event: Told) -> dict[str, Any]:
    return {
        "account_id": event.account_id,
        "call_id": event.call_id,
        "sequence_number": event.sequence_number,
        "body": event.body,
    }


def _body(cdr_id: int, record: CallRecord) -> Rows:
    return [{"cdr_id": cdr_id, "record": msgspec.json.encode(record)}]


def _agents(cdr_id: int, record: CallRecord) -> Rows:
    same = {
        "cdr_id": cdr_id,
        "account_id": record.account_id,
        "started_ms": record.created_ms,
        "direction": record.direction,
    }
    return [{**same, **msgspec.structs.asdict(agent)} for agent in agents_of(record)]


def _numbers(cdr_id: int, record: CallRecord) -> Rows:
    same = {
        "cdr_id": cdr_id,
        "account_id": record.account_id,
        "started_ms": record.created_ms,
    }
    return [
        {**same, "number": number, "is_dialed": is_dialed}
        for number, is_dialed in numbers_of(record).items()
    ]


def _client(_cdr_id: int, record: CallRecord) -> Rows:
    client_id = label(record, "clientId")
    return [{"account_id": record.account_id, "client_id": client_id}] if client_id else []


PARTS: dict[sa.Table, Any] = {
    bodies: _body,
    agents: _agents,
    numbers: _numbers,
    clients: _client,
}
