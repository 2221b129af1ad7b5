"""Whose job is next: accounts take turns, however many jobs one of them has.

A job's turn is the one after its account's last, and no earlier than that which is on now. So who
comes with one job waits for one of everybody else's, and nobody who has many waits for ever.
"""

from sqlalchemy import and_, case, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.errors import TooManyRequests
from api.jobs.tables import UNFINISHED, jobs

RETRY_DELAY_S = 30
# PostgreSQL's alone: SQLite has one writer. Not the account's row, which others hold before a list.
_ALONE = text("SELECT pg_advisory_xact_lock(hashtextextended('jobs of ' || :account, 0))")


async def next_turn(
    connection: AsyncConnection, account_id: str, kind: str, most: int, most_alike: int
) -> int:
    """Give the turn of one more job; raises TooMany where its account has as many as it may.

    No other job of the account is counted until the transaction has ended.
    """
    if connection.dialect.name == "postgresql":
        await connection.execute(_ALONE, {"account": account_id})
    own, alike = jobs.c.account_id == account_id, jobs.c.kind == kind
    query = select(
        func.count(case((own, 1))),
        func.count(case((and_(own, alike), 1))),
        func.max(case((and_(own, alike), jobs.c.turn))),
        func.min(case((alike, jobs.c.turn))),
    ).where(jobs.c.state.in_(UNFINISHED))
    count, count_alike, last, now = (await connection.execute(query)).one()
    if count >= most:
        raise TooManyRequests(
            f"{count} background jobs of the account are under way, and no more are taken",
            "too_many_jobs",
            retry_after_s=RETRY_DELAY_S,
        )
    if count_alike >= most_alike:
        told = f"{count_alike} background jobs of this kind are under way, and no more are taken"
        raise TooManyRequests(told, retry_after_s=RETRY_DELAY_S)
    return int(now or 0) if last is None else int(last) + 1
