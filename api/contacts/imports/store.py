"""Imports in the database: their progress, and the rejected rows."""

from collections.abc import AsyncIterator
from typing import Annotated

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.errors import Conflict
from api.contacts.imports.reader.messages import Action, RejectedRow
from api.contacts.tables import imports, rejects
from api.db.database import Store
from api.jobs.store import LeaseLost, State, jobs
from base.limit import Limit

PAGE_ROWS = 1_000
MAX_REJECTED_ROWS: Annotated[
    int,
    Limit("request", "only counted", "Rejected rows of a file of contacts that can be downloaded."),
] = 10_000
REJECTED_ROW_BYTES = 128  # of the database, beside the reason and the cells


class Import(Struct, frozen=True):
    """The import of a file, with the state of its job."""

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
    """The result of a batch; the import has `after` rows before it and `rows` after it."""

    after: int
    rows: int
    added: int
    updated: int
    skipped: int
    rejects: list[RejectedRow]


_COLUMNS = [each for each in imports.c if each is not imports.c.rejected_bytes]
_JOB_COLUMNS = (jobs.c.total, jobs.c.state, jobs.c.error, jobs.c.ended_ms)


class ImportStore(Store):
    async def add(
        self, connection: AsyncConnection, job_id: str, list_id: int, action: Action
    ) -> None:
        """Add an import in the transaction that adds its job; it replaces the list's last one."""
        await self.delete(connection, list_id)
        names = ("rows", "added", "updated", "skipped", "rejected", "rejected_bytes")
        counts = dict.fromkeys(names, 0)
        row = {"job_id": job_id, "list_id": list_id, "action": action, **counts}
        await connection.execute(sa.insert(imports).values({**row, "started_ms": self._now_ms()}))

    async def delete_rejects(self, list_id: int) -> None:
        """Delete the rejected rows of a list's import, which may be large."""
        of_list = sa.select(imports.c.job_id).where(imports.c.list_id == list_id)
        await self._database.delete(rejects, rejects.c.job_id.in_(of_list))

    async def delete(self, connection: AsyncConnection, list_id: int) -> None:
        """Delete the import of a list."""
        await connection.execute(sa.delete(imports).where(imports.c.list_id == list_id))

    async def rows(self, job_id: str) -> int | None:
        """Return how many of the file's rows are imported; None if the import is deleted."""
        query = sa.select(imports.c.rows).where(imports.c.job_id == job_id)
        rows: int | None = await self._database.scalar(query)
        return rows

    async def advance(
        self, connection: AsyncConnection, job_id: str, progress: ImportProgress
    ) -> None:
        """Add a batch's result in the transaction that writes it; raises LeaseLost.

        All rejected rows are counted, and the first MAX_REJECTED_ROWS of a file are kept.
        """
        change = (
            sa.update(imports)
            .where(imports.c.job_id == job_id, imports.c.rows == progress.after)
            .values(
                rows=progress.rows,
                added=imports.c.added + progress.added,
                updated=imports.c.updated + progress.updated,
                skipped=imports.c.skipped + progress.skipped,
                rejected=imports.c.rejected + len(progress.rejects),
            )
            .returning(imports.c.rejected)
        )
        rejected = (await connection.execute(change)).scalar_one_or_none()
        if rejected is None:
            raise LeaseLost(job_id)
        left = max(0, MAX_REJECTED_ROWS - (rejected - len(progress.rejects)))
        if kept := progress.rejects[:left]:
            await _keep(connection, job_id, kept)

    async def get_several(
        self, connection: AsyncConnection, list_ids: list[int]
    ) -> dict[int, Import]:
        """Return the imports of several lists, by list id."""
        query = (
            sa.select(*_COLUMNS, *_JOB_COLUMNS)
            .join(jobs, jobs.c.id == imports.c.job_id)
            .where(imports.c.list_id.in_(list_ids))
        )
        rows = (await connection.execute(query)).mappings()
        return {row["list_id"]: Import(**row) for row in rows}

    async def rejected_rows(self, job_id: str) -> AsyncIterator[list[RejectedRow]]:
        """Yield the rejected rows by page; raises Conflict if they are deleted meanwhile."""
        after = 0
        while True:
            query = (
                sa.select(rejects.c.line, rejects.c.reason, rejects.c.cells)
                .where(rejects.c.job_id == job_id, rejects.c.line > after)
                .order_by(rejects.c.line)
                .limit(PAGE_ROWS)
            )
            page = [RejectedRow(*row) for row in await self._database.rows(query)]
            if not page and await self.rows(job_id) is None:
                raise Conflict("its file is being processed again, or replaced", "processing")
            if not page:
                return
            yield page
            after = page[-1].line


async def _keep(connection: AsyncConnection, job_id: str, kept: list[RejectedRow]) -> None:
    rows = [
        {"job_id": job_id, "line": each.line, "reason": each.reason, "cells": each.cells}
        for each in kept
    ]
    await connection.execute(sa.insert(rejects), rows)
    size = sum(REJECTED_ROW_BYTES + len(f"{each.reason}{each.cells}".encode()) for each in kept)
    change = sa.update(imports).where(imports.c.job_id == job_id)
    await connection.execute(change.values(rejected_bytes=imports.c.rejected_bytes + size))
