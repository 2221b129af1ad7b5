"""Signatures in a database: of existing calls, and for any two filters together."""

from itertools import combinations
from typing import Any

import msgspec
import sqlalchemy as sa
from alembic import command
from sqlalchemy import Connection

from api.cdrs.ingest.row_mapping import agent_rows, cdr_row, participant_numbers
from api.cdrs.query.filters import Filters
from api.cdrs.store import CdrStore
from api.cdrs.tables import agents, bodies, cdrs, numbers
from api.db.database import Database
from api.db.migrate import alembic_config, migrate
from tests.harness.api.cdrs.records import CUSTOMER, leg, missed, record, recording, write_calls
from tests.harness.api.databases import opened
from wire.events.record import CallRecord

NINA = leg("agent:7", agent_id="7", agent_name="Nina")
PER = leg("agent:8", agent_id="8", agent_name="Per")
LABELS = {"clientId": "c-7", "callPath": "ivr", "obdType": "survey"}
CALLS = (
    record(1, legs=(NINA,), labels=LABELS, recordings=(recording("call"),)),
    record(2, legs=(PER,), labels=LABELS, caller_id="+4733333333"),
    record(3, legs=(NINA, PER), recordings=(recording("voicemail"),)),
    missed(4, labels=LABELS),
    record(5, to="+4744444444", dialed_numbers=("+4744444444",)),
)
REQUESTED: tuple[dict[str, Any], ...] = (
    {"client_id": "c-7"},
    {"caller_id": "+4733333333"},
    {"to_number": CUSTOMER},
    {"dialed_number": CUSTOMER},
    {"call_path": "ivr"},
    {"obd_type": "survey"},
    {"disposition1": "sale"},
    {"is_answered": True},
    {"is_answered": False},
    {"purpose": "call"},
    {"purpose": "voicemail"},
    {"agent_names": ("Nina",)},
    {"agent_names": ("Per", "nobody")},
)


async def test_existing_calls_get_signatures(empty_url: str) -> None:
    """The migration computes the signatures of existing calls."""
    async with opened(empty_url) as database:
        async with database.writing() as connection:
            await connection.run_sync(_fill_as_before)
        await migrate(database)
        await _is_found(database)
        await CdrStore(database).set_dispositions("acme", CALLS[0].call_id, {"disposition1": "no"})
        found = await CdrStore(database).page(
            Filters("acme", disposition1="no", agent_names=("Nina",)), 9
        )
        assert [row.req_id for row in found.rows] == [CALLS[0].call_id]


async def test_any_two_filters(database: Database) -> None:
    """Two filters find the intersection of what each finds alone."""
    await write_calls(database, *CALLS)
    for call in CALLS[:2]:
        await CdrStore(database).set_dispositions("acme", call.call_id, {"disposition1": "sale"})
    await _is_found(database)


async def _is_found(database: Database) -> None:
    alone = [await _found(database, each) for each in REQUESTED]
    assert all(alone)
    for one, other in combinations(range(len(REQUESTED)), 2):
        if REQUESTED[one].keys() != REQUESTED[other].keys():
            both = await _found(database, REQUESTED[one] | REQUESTED[other])
            assert both == alone[one] & alone[other], (REQUESTED[one], REQUESTED[other])


async def _found(database: Database, requested: dict[str, Any]) -> set[str]:
    filters = Filters("acme", **requested)
    found = {row.req_id for row in (await CdrStore(database).page(filters, 100)).rows}
    assert (await CdrStore(database).total(filters)).count == len(found)
    return found


def _fill_as_before(connection: Connection) -> None:
    command.upgrade(alembic_config(connection), "0015")
    for cdr_id, call in enumerate(CALLS, 1):
        row = {**cdr_row(call), "disposition1": "sale" if cdr_id <= 2 else None}
        _insert(connection, cdrs, {"id": cdr_id, **row})
        _insert(connection, bodies, {"cdr_id": cdr_id, "record": msgspec.json.encode(call)})
        for part, table in _parts(call):
            same = {"account_id": "acme", "cdr_id": cdr_id, "started_ms": call.created_ms}
            _insert(connection, table, {**same, **part})


def _parts(call: CallRecord) -> list[tuple[dict[str, Any], sa.Table]]:
    found: list[tuple[dict[str, Any], sa.Table]] = [
        ({"direction": call.direction, **msgspec.structs.asdict(each)}, agents)
        for each in agent_rows(call)
    ]
    dialed = participant_numbers(call).items()
    return found + [({"number": each, "is_dialed": is_it}, numbers) for each, is_it in dialed]


def _insert(connection: Connection, table: sa.Table, values: dict[str, Any]) -> None:
    given = {name: value for name, value in values.items() if name != "marks"}
    before = sa.table(table.name, *(sa.column(name, table.c[name].type) for name in given))
    connection.execute(sa.insert(before).values(given))
