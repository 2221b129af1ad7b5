"""The parts of exports in the database: whoever does a job goes on after the last of them."""

from collections.abc import AsyncIterator

import sqlalchemy as sa
from msgspec import Struct

from api.cdrs.queries import Place
from api.cdrs.tables import export_parts
from api.cdrs.writing import INSERTS
from api.clock import Clock
from api.db import Database

KEPT_MS = 7 * 86_400_000


class Made(Struct, frozen=True):
    """How far an export is: parts and rows, and the place of the last row."""

    parts: int = 0
    rows: int = 0
    after: Place | None = None


class Parts:
    """What is kept of exports."""

    def __init__(self, database: Database, now_ms: Clock) -> None:
        self._database = database
        self._now_ms = now_ms

    async def made(self, job_id: str) -> Made:
        """Tell how far an export is."""
        its = export_parts.c.job_id == job_id
        total = sa.select(sa.func.coalesce(sa.func.sum(export_parts.c.rows), 0)).where(its)
        last = (
            sa.select(export_parts.c.part, export_parts.c.last_started_ms, export_parts.c.last_id)
            .where(its)
            .order_by(export_parts.c.part.desc())
            .limit(1)
        )
        async with self._database.reading() as connection:
            row = (await connection.execute(last)).first()
            rows = (await connection.execute(total)).scalar_one()
        return Made(row[0] + 1, int(rows), (row[1], row[2])) if row else Made()

    async def add(self, job_id: str, made: Made, rows: int, after: Place, body: bytes) -> Made:
        """Keep the next part; one that is there already is the same."""
        row = {
            "job_id": job_id,
            "part": made.parts,
            "rows": rows,
            "last_started_ms": after[0],
            "last_id": after[1],
            "made_ms": self._now_ms(),
            "body": body,
        }
        async with self._database.writing() as connection:
            insert = INSERTS[connection.dialect.name](export_parts)
            await connection.execute(insert.on_conflict_do_nothing().values(row))
        return Made(made.parts + 1, made.rows + rows, after)

    async def bodies(self, job_id: str) -> AsyncIterator[bytes]:
        """Read the parts one by one."""
        part = 0
        while True:
            query = sa.select(export_parts.c.body).where(
                export_parts.c.job_id == job_id, export_parts.c.part == part
            )
            async with self._database.reading() as connection:
                body = (await connection.execute(query)).scalar_one_or_none()
            if body is None:
                return
            yield body
            part += 1

    def oldest_ms(self) -> int:
        """Tell since when exports must have been asked for to be kept still."""
        return self._now_ms() - KEPT_MS

    async def forget(self) -> None:
        """Take out what has been kept for long enough."""
        old = sa.delete(export_parts).where(export_parts.c.made_ms < self.oldest_ms())
        async with self._database.writing() as connection:
            await connection.execute(old)
