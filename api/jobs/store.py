"""Jobs in the database: an outbox with leases.

A job is added in the transaction that needs it. The process that claims it holds a lease. When the
process dies, the lease expires and another process starts the job again, so jobs are idempotent.
"""

import uuid
from typing import Annotated, Any, Literal

from msgspec import Struct
from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ColumnElement,
    ForeignKey,
    FromClause,
    Index,
    Integer,
    String,
    Table,
    and_,
    case,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.clock import Clock
from api.common.errors import TooManyRequests
from api.db.database import Database, metadata
from api.db.page_bytes import fits_page, sized_page, text_size
from base.limit import Limit
from wire.decoding.texts import printable

LEASE_MS = 15_000
MAX_ATTEMPTS = 5
RETRY_DELAY_MS = 2_000  # before the second attempt; doubled before each one after
MAX_ERROR_CHARS = 500
CANCELLED = "cancelled"
MAX_JOBS = 100  # of one account, waiting or running

State = Literal["waiting", "running", "done", "failed"]
UNFINISHED: tuple[State, ...] = ("waiting", "running")

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False),
    Column("kind", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("payload", JSON, nullable=False),
    Column("result", JSON),
    Column("error", String(512)),
    Column("done", BigInteger, nullable=False),
    Column("total", BigInteger),
    Column("attempts", Integer, nullable=False),
    Column("turn", BigInteger, nullable=False, server_default="0"),  # see _next_turn
    Column("due_ms", BigInteger, nullable=False),  # while it runs: the end of its lease
    Column("owner", String(64)),
    Column("created_ms", BigInteger, nullable=False),
    Column("ended_ms", BigInteger),
    Index("ix_jobs_state_due_ms", "state", "due_ms"),
    Index("ix_jobs_account_id_kind", "account_id", "kind", "created_ms"),
)

RETRY_AFTER_S = 30
MAX_KEPT: Annotated[
    int, Limit("account", "429 `too_many_jobs`", "Background jobs that ended within 30 days.")
] = 20_000
# Only for PostgreSQL: SQLite has one writer. Not the account's row: others lock it before a list.
_LOCK_ACCOUNT = text("SELECT pg_advisory_xact_lock(hashtextextended('jobs of ' || :account, 0))")


class JobProgress(Struct, frozen=True, kw_only=True):
    """A job without what it is given and returns; `done` of `total` units are processed."""

    id: str
    account_id: str
    kind: str
    state: State
    error: str | None
    done: int
    total: int | None
    attempts: int
    turn: int
    due_ms: int
    owner: str | None
    created_ms: int
    ended_ms: int | None


class Job(JobProgress, frozen=True, kw_only=True):
    """A job with its payload and result."""

    payload: dict[str, Any]
    result: dict[str, Any] | None


_PROGRESS = [jobs.c[name] for name in JobProgress.__struct_fields__]


class LeaseLost(Exception):
    """Another process may run the job by now."""


class JobStore:
    def __init__(self, database: Database, now_ms: Clock, max_jobs: int = MAX_JOBS) -> None:
        self._database = database
        self._now_ms = now_ms
        self._max_jobs = max_jobs

    async def add(
        self,
        connection: AsyncConnection,
        kind: str,
        account_id: str,
        payload: dict[str, Any],
        max_of_kind: int | None = None,
    ) -> str:
        """Add a job within a transaction, and return its id.

        Raises TooManyRequests if the account has too many jobs, or too many of this kind.
        """
        limit = self._max_jobs if max_of_kind is None else max_of_kind
        turn = await _next_turn(connection, account_id, kind, self._max_jobs, limit)
        now_ms, job_id = self._now_ms(), uuid.uuid4().hex
        row = {
            "id": job_id,
            "account_id": account_id,
            "kind": kind,
            "state": "waiting",
            "payload": payload,
            "done": 0,
            "attempts": 0,
            "turn": turn,
            "due_ms": now_ms,
            "created_ms": now_ms,
        }
        await connection.execute(insert(jobs).values(row))
        return job_id

    async def get(self, account_id: str, kind: str, job_id: str) -> Job | None:
        if not job_id.isprintable():  # PostgreSQL accepts no NUL in a text
            return None
        query = select(jobs).where(
            jobs.c.id == job_id, jobs.c.account_id == account_id, jobs.c.kind == kind
        )
        rows = await self._database.mappings(query)
        return Job(**rows[0]) if rows else None

    async def find(self, account_id: str, job_id: str) -> Job | None:
        """Return an account's job of any kind."""
        if not job_id.isprintable():
            return None
        query = select(jobs).where(jobs.c.id == job_id, jobs.c.account_id == account_id)
        rows = await self._database.mappings(query)
        return Job(**rows[0]) if rows else None

    async def page_of_all(
        self, account_id: str, limit: int, offset: int
    ) -> tuple[list[JobProgress], int]:
        """Return a page of an account's jobs of all kinds, newest first, and their total."""
        own = select(*_PROGRESS).where(jobs.c.account_id == account_id)
        query = own.order_by(jobs.c.created_ms.desc(), jobs.c.id)
        rows, total = await self._database.page(query, limit, offset)
        return [JobProgress(**row) for row in rows], total

    async def cancel(self, account_id: str, job_id: str) -> bool:
        """End a job as failed; return whether it was unfinished. Who runs it loses the lease."""
        ended = {"state": "failed", "error": CANCELLED, "ended_ms": self._now_ms()}
        is_unfinished = and_(
            jobs.c.id == job_id, jobs.c.account_id == account_id, jobs.c.state.in_(UNFINISHED)
        )
        return await self._database.execute(update(jobs).where(is_unfinished).values(ended)) > 0

    async def page(
        self, account_id: str, kind: str, since_ms: int, limit: int, offset: int
    ) -> tuple[list[Job], int]:
        """Return a page of an account's jobs since a time, newest first, and their total."""
        wanted = and_(
            jobs.c.account_id == account_id, jobs.c.kind == kind, jobs.c.created_ms >= since_ms
        )
        ids = select(jobs.c.id, jobs.c.created_ms).where(wanted)
        ids = ids.order_by(jobs.c.created_ms.desc(), jobs.c.id).limit(limit).offset(offset)
        found = ids.subquery()
        rows = found.join(jobs, jobs.c.id == found.c.id)
        sized = sized_page(found, rows, text_size(jobs.c.payload, jobs.c.result), _newest_first)
        query = (
            select(jobs)
            .join_from(sized, jobs, jobs.c.id == sized.c.id)
            .where(fits_page(sized))
            .order_by(*_newest_first(sized))
        )
        total = await self._database.scalar(select(func.count()).select_from(jobs).where(wanted))
        return [Job(**row) for row in await self._database.mappings(query)], int(total)

    async def claim(self, owner: str, kinds: list[str]) -> Job | None:
        """Claim the next job in turn, or one whose lease has expired."""
        now_ms = self._now_ms()
        due = (
            select(jobs.c.id)
            .where(
                jobs.c.state.in_(UNFINISHED),
                jobs.c.due_ms <= now_ms,
                jobs.c.kind.in_(kinds),
            )
            .order_by(jobs.c.turn, jobs.c.due_ms)
            .limit(1)
            .with_for_update(skip_locked=True)
            .scalar_subquery()
        )
        claimed = {
            "state": "running",
            "owner": owner,
            "due_ms": now_ms + LEASE_MS,
            "attempts": jobs.c.attempts + 1,
        }
        change = update(jobs).where(jobs.c.id == due).values(claimed).returning(jobs)
        async with self._database.writing() as connection:
            row = (await connection.execute(change)).mappings().first()
        return Job(**row) if row else None

    async def progress(self, job: Job, done: int, total: int | None) -> None:
        """Store a job's progress, and renew its lease; raises LeaseLost."""
        lease = {"done": done, "total": total, "due_ms": self._now_ms() + LEASE_MS}
        await self._change(job, lease)

    async def renew(self, job: Job) -> None:
        """Renew a job's lease; raises LeaseLost."""
        await self._change(job, {"due_ms": self._now_ms() + LEASE_MS})

    async def finish(self, job: Job, result: dict[str, Any]) -> None:
        """Store that a job is done; raises LeaseLost."""
        ended = {"state": "done", "result": result, "error": None, "ended_ms": self._now_ms()}
        await self._change(job, ended)

    async def release(self, job: Job) -> None:
        """Let another process run the job at once, as if it had not been claimed here."""
        values = {"state": "waiting", "due_ms": self._now_ms(), "attempts": job.attempts - 1}
        await self._change(job, values)

    async def fail(self, job: Job, error: str, *, for_good: bool = False) -> None:
        """Store that an attempt failed; it is retried until MAX_ATTEMPTS or `for_good`.

        The error may be the text of another server, with what no database stores.
        """
        now_ms, text = self._now_ms(), printable(error)[:MAX_ERROR_CHARS]
        if for_good or job.attempts >= MAX_ATTEMPTS:
            await self._change(job, {"state": "failed", "error": text, "ended_ms": now_ms})
            return
        due_ms = now_ms + RETRY_DELAY_MS * 2 ** (job.attempts - 1)
        await self._change(job, {"state": "waiting", "error": text, "due_ms": due_ms})

    async def _change(self, job: Job, values: dict[str, Any]) -> None:
        change = update(jobs).where(_held(job)).values(values)
        if not await self._database.execute(change):
            raise LeaseLost(job.id)


def _newest_first(page: FromClause) -> list[ColumnElement[Any]]:
    return [page.c.created_ms.desc(), page.c.id]


def _held(job: Job) -> ColumnElement[bool]:
    """Match this claim of a job only: each claim counts as one more attempt."""
    return and_(
        jobs.c.id == job.id,
        jobs.c.state == "running",
        jobs.c.owner == job.owner,
        jobs.c.attempts == job.attempts,
    )


async def _next_turn(
    connection: AsyncConnection, account_id: str, kind: str, max_jobs: int, max_of_kind: int
) -> int:
    """Return the turn of one more job; raises TooManyRequests if the account has too many.

    Turns are a round-robin between accounts: a job's turn is one after its account's last, and not
    before the current one. So an account with one job waits for at most one job of every other
    account, and none waits for ever.

    Until the transaction ends, no other transaction counts jobs of the account.
    """
    if connection.dialect.name == "postgresql":
        await connection.execute(_LOCK_ACCOUNT, {"account": account_id})
    is_own, is_same_kind = jobs.c.account_id == account_id, jobs.c.kind == kind
    query = select(
        func.count(case((is_own, 1))),
        func.count(case((and_(is_own, is_same_kind), 1))),
        func.max(case((and_(is_own, is_same_kind), jobs.c.turn))),
        func.min(case((is_same_kind, jobs.c.turn))),
    ).where(jobs.c.state.in_(UNFINISHED))
    count, count_of_kind, last, current = (await connection.execute(query)).one()
    kept = select(func.count()).select_from(jobs).where(is_own)
    if (await connection.execute(kept)).scalar_one() >= MAX_KEPT:
        raise TooManyRequests(
            f"the account has started {MAX_KEPT:,} background jobs within 30 days",
            "too_many_jobs",
            retry_after_s=RETRY_AFTER_S,
        )
    if count >= max_jobs:
        raise TooManyRequests(
            f"{count} background jobs of the account are under way, and no more are taken"
            " (SWITCHROOM_MAX_JOBS)",
            "too_many_jobs",
            retry_after_s=RETRY_AFTER_S,
        )
    if count_of_kind >= max_of_kind:
        detail = (
            f"{count_of_kind} background jobs of this kind are under way, and no more are taken"
        )
        raise TooManyRequests(detail, retry_after_s=RETRY_AFTER_S)
    return int(current or 0) if last is None else int(last) + 1
