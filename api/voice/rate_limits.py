"""The rate limit of an account's new calls: one row per account, updated by every process.

The generic cell rate algorithm (ITU-T I.371, Annex A): `next_us` is when the next call is due at an
even rate; it may come early by up to a second's worth of calls.
"""

from sqlalchemy import BigInteger, Column, ForeignKey, String, Table, case, update

from api.db.database import Store, metadata

paces = Table(
    "call_paces",
    metadata,
    Column("account_id", String(64), ForeignKey("accounts.id"), primary_key=True),
    Column("next_us", BigInteger, nullable=False),
)
SECOND_US = 1_000_000


class RateLimits(Store):
    """Limits the calls per second of all processes together."""

    async def take(self, account_id: str, per_s: float) -> bool:
        """Count a call; False if the rate is exceeded."""
        now_us, interval_us = self._now_ms() * 1_000, int(SECOND_US / per_s)
        next_us = case((paces.c.next_us > now_us, paces.c.next_us), else_=now_us)
        # One call is always allowed, however low the rate.
        early_us = max(SECOND_US - interval_us, 0)
        row = {"account_id": account_id, "next_us": 0}
        advance = (
            update(paces)
            .where(paces.c.account_id == account_id, paces.c.next_us <= now_us + early_us)
            .values(next_us=next_us + interval_us)
        )
        async with self._database.writing() as connection:
            await connection.execute(
                self._database.insert(paces).values(row).on_conflict_do_nothing()
            )
            return bool((await connection.execute(advance)).rowcount)
