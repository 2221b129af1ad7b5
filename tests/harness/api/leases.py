"""The leases of jobs and of recordings in the database, which end although no time passes."""

import sqlalchemy as sa

from api.common.clock import now_ms
from api.jobs.store import LEASE_MS
from tests.harness.api.databases import migrated_database


async def end_leases(database_url: str, table: sa.Table) -> None:
    """End the lease of a dead process, which is there, and no longer than it may be."""
    is_running = table.c.state == "running"
    async with migrated_database(database_url) as database, database.writing() as connection:
        ((until_ms,),) = await connection.execute(sa.select(table.c.due_ms).where(is_running))
        assert until_ms - now_ms() <= LEASE_MS
        await connection.execute(sa.update(table).where(is_running).values(due_ms=0))
