"""Sets the dispositions of a call, and updates its signature in every table."""

from collections.abc import Mapping

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from api.cdrs.ingest.row_mapping import participant_numbers
from api.cdrs.query.signatures import signature_bits, signature_mask
from api.cdrs.tables import agents, bodies, cdrs, numbers
from wire.events.record import CallRecord

DispositionLevels = Mapping[str, str | None]


async def set_dispositions(
    connection: AsyncConnection,
    account_id: str,
    req_id: str,
    levels: DispositionLevels,
    region: str | None = None,
) -> None:
    """Set the levels of a call; None clears a level."""
    query = (
        sa.select(cdrs.c.id, cdrs.c.marks, bodies.c.record)
        .join(bodies, bodies.c.cdr_id == cdrs.c.id)
        .where(cdrs.c.account_id == account_id, cdrs.c.req_id == req_id)
        .with_for_update(of=cdrs)  # two requests may set levels at the same time
    )
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        return
    signature = row.marks & ~signature_mask(levels) | sum(
        signature_bits(*level) for level in levels.items()
    )
    changed = sa.update(cdrs).where(cdrs.c.id == row.id).values({**levels, "marks": signature})
    await connection.execute(changed)
    await connection.execute(
        sa.update(agents).where(agents.c.cdr_id == row.id).values(marks=signature)
    )
    record = msgspec.json.decode(row.record, type=CallRecord)
    # In the form in which they were stored; the account's region may have changed since.
    written = (participant_numbers(record, each) for each in {region, None})
    is_its = (
        numbers.c.account_id == account_id,
        numbers.c.number.in_({number for each in written for number in each}),
        numbers.c.started_ms == record.created_ms,
        numbers.c.cdr_id == row.id,
    )
    await connection.execute(sa.update(numbers).where(*is_its).values(marks=signature))
