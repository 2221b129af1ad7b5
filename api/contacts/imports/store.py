"""What became of a list's file, in the database: how far it is taken in, and what was rejected."""

from collections.abc import AsyncIterator

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.clock import Clock
from api.common.errors import Conflict
from api.contacts.imports.reader.messages import Action, RejectedRow
from api.contacts.tables import imports, rejects
from api.db.database import Database
from api.jobs.store import LeaseLost
from api.jobs.tables import State, jobs

PAGE = 1_000


class Import(Struct, frozen=True):
    """A file taken in, as far as it is."""

    job_id: str
    list_id: int
    action: Action
    rows: int
    added: int
    updated: int
    skipped: int
    rejected: int
    started_ms: int
    total: int | None
    state: State
    error: str | None
    ended_ms: int | None


class ImportProgress(Struct, frozen=True):
    """What a batch has added to an import; `rows` are all so far, and before it `after`."""

    after: int
    rows: int
    added: int
    updated: int
    skipped: int
    rejects: list[RejectedRow]


_OF_JOB = (jobs.c.total, jobs.c.state, jobs.c.error, jobs.c.ended_ms)


class ImportStore:
    """What is kept of imports."""

    def __init__(self, database: Database, now_ms: Clock) -> None:
        self._database = database
        self._now_ms = now_ms

    async def begin(
        self, connection: AsyncConnection, job_id: str, list_id: int, action: Action
    ) -> None:
        """Begin an import in the transaction that adds its job; the last one is forgotten."""
        await self.forget(connection, list_id)
        zero = dict.fromkeys(("rows", "added", "updated", "skipped", "rejected"), 0)
        row = {"job_id": job_id, "list_id": list_id, "action": action, **zero}
        await connection.execute(sa.insert(imports).values({**row, "started_ms": self._now_ms()}))

    async def forget(self, connection: AsyncConnection, list_id: int) -> None:
        """Forget what became of a list's file."""
        await connection.execute(sa.delete(imports).where(imports.c.list_id == list_id))

    async def rows(self, job_id: str) -> int | None:
        """Tell how many of the file's rows have been taken in; none once it is forgotten."""
        query = sa.select(imports.c.rows).where(imports.c.job_id == job_id)
        async with self._database.reading() as connection:
            found: int | None = (await connection.execute(query)).scalar_one_or_none()
        return found

    async def step(self, connection: AsyncConnection, job_id: str, step: ImportProgress) -> None:
        """Note a batch within the transaction that writes it; LeaseLost if somebody else did."""
        change = (
            sa.update(imports)
            .where(imports.c.job_id == job_id, imports.c.rows == step.after)
            .values(
                rows=step.rows,
                added=imports.c.added + step.added,
                updated=imports.c.updated + step.updated,
                skipped=imports.c.skipped + step.skipped,
                rejected=imports.c.rejected + len(step.rejects),
            )
        )
        if not (await connection.execute(change)).rowcount:
            raise LeaseLost(job_id)
        if rows := [
            {"job_id": job_id, "line": each.line, "reason": each.reason, "cells": each.cells}
            for each in step.rejects
        ]:
            await connection.execute(sa.insert(rejects), rows)

    async def of_several(
        self, connection: AsyncConnection, list_ids: list[int]
    ) -> dict[int, Import]:
        """Read the imports of several lists."""
        query = (
            sa.select(*imports.c, *_OF_JOB)
            .join(jobs, jobs.c.id == imports.c.job_id)
            .where(imports.c.list_id.in_(list_ids))
        )
        rows = (await connection.execute(query)).mappings()
        return {row["list_id"]: Import(**row) for row in rows}

    async def rejected(self, job_id: str) -> AsyncIterator[list[RejectedRow]]:
        """Read what was rejected, page by page; raises Conflict if it is forgotten meanwhile."""
        after = 0
        while True:
            query = (
                sa.select(rejects.c.line, rejects.c.reason, rejects.c.cells)
                .where(rejects.c.job_id == job_id, rejects.c.line > after)
                .order_by(rejects.c.line)
                .limit(PAGE)
            )
            async with self._database.reading() as connection:
                found = [RejectedRow(*row) for row in await connection.execute(query)]
            if not found and await self.rows(job_id) is None:
                raise Conflict("its file is being processed again, or replaced", "processing")
            if not found:
                return
            yield found
            after = found[-1].line
