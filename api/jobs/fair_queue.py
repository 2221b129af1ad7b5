"""Round-robin between accounts, however many jobs one of them has.

A job's turn is one after its account's last, and not before the current one. So an account with one
job waits for at most one job of every other account, and none waits for ever.
"""

from typing import Annotated

from sqlalchemy import and_, case, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.errors import TooManyRequests
from api.jobs.tables import UNFINISHED, jobs
from base.limit import Limit

RETRY_DELAY_S = 30
MAX_KEPT: Annotated[
    int, Limit("account", "429 `too_many_jobs`", "Background jobs that ended within 30 days.")
] = 20_000
# Only for PostgreSQL: SQLite has one writer. Not the account's row: others lock it before a list.
_LOCK_ACCOUNT = text("SELECT pg_advisory_xact_lock(hashtextextended('jobs of ' || :account, 0))")


async def next_turn(
    connection: AsyncConnection, account_id: str, kind: str, max_jobs: int, max_of_kind: int
) -> int:
    """Return the turn of one more job; raises TooManyRequests if the account has too many.

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
            retry_after_s=RETRY_DELAY_S,
        )
    if count >= max_jobs:
        raise TooManyRequests(
            f"{count} background jobs of the account are under way, and no more are taken"
            " (SWITCHROOM_MAX_JOBS)",
            "too_many_jobs",
            retry_after_s=RETRY_DELAY_S,
        )
    if count_of_kind >= max_of_kind:
        detail = (
            f"{count_of_kind} background jobs of this kind are under way, and no more are taken"
        )
        raise TooManyRequests(detail, retry_after_s=RETRY_DELAY_S)
    return int(current or 0) if last is None else int(last) + 1
