"""Changes filtered columns of a call, and updates its signature in every table."""

from collections.abc import Callable, Mapping

import msgspec
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from api.cdrs.ingest.row_mapping import cdr_row, participant_numbers
from api.cdrs.query.filters import PURPOSES
from api.cdrs.query.signatures import signature_bits, signature_mask
from api.cdrs.tables import agents, bodies, cdrs, numbers
from wire.decoding.messages import decode_message
from wire.events.record import CallRecord

DispositionLevels = Mapping[str, str | None]
Columns = Mapping[str, str | bool | None]


async def set_dispositions(
    connection: AsyncConnection,
    account_id: str,
    req_id: str,
    levels: DispositionLevels,
    region: str | None = None,
) -> None:
    """Set the levels of a call; None clears a level."""
    await _change(connection, account_id, req_id, lambda record: (levels, record), region)


async def mark_recording_deleted(
    connection: AsyncConnection, account_id: str, req_id: str, path: str, region: str | None = None
) -> None:
    """Mark a recording of a call as deleted; lists of calls with recordings omit it."""

    def changed(record: CallRecord) -> tuple[Columns, CallRecord]:
        recordings = tuple(
            replace(each, state="deleted") if each.url.endswith(f"/{path}") else each
            for each in record.recordings
        )
        record = replace(record, recordings=recordings)
        row = cdr_row(record, region)
        return {name: row[name] for name in PURPOSES.values()}, record

    await _change(connection, account_id, req_id, changed, region)


async def _change(
    connection: AsyncConnection,
    account_id: str,
    req_id: str,
    change: Callable[[CallRecord], tuple[Columns, CallRecord]],
    region: str | None,
) -> None:
    query = (
        sa.select(cdrs.c.id, cdrs.c.marks, bodies.c.record)
        .join(bodies, bodies.c.cdr_id == cdrs.c.id)
        .where(cdrs.c.account_id == account_id, cdrs.c.req_id == req_id)
        .with_for_update(of=cdrs)  # two requests may set levels at the same time
    )
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        return
    stored = decode_message(row.record, CallRecord)
    columns, record = change(stored)
    signature = row.marks & ~signature_mask(columns) | sum(
        signature_bits(*column) for column in columns.items()
    )
    changed = sa.update(cdrs).where(cdrs.c.id == row.id).values({**columns, "marks": signature})
    await connection.execute(changed)
    if record is not stored:
        body = sa.update(bodies).where(bodies.c.cdr_id == row.id)
        await connection.execute(body.values(record=msgspec.json.encode(record)))
    await connection.execute(
        sa.update(agents).where(agents.c.cdr_id == row.id).values(marks=signature)
    )
    # In the form in which they were stored; the account's region may have changed since.
    written = (participant_numbers(record, each) for each in {region, None})
    is_its = (
        numbers.c.account_id == account_id,
        numbers.c.number.in_({number for each in written for number in each}),
        numbers.c.started_ms == record.created_ms,
        numbers.c.cdr_id == row.id,
    )
    await connection.execute(sa.update(numbers).where(*is_its).values(marks=signature))
