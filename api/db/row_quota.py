"""How many rows of a kind an account may have, without a count for each one that is added.

A process counts an account's rows at most once a minute, and adds its own ones meanwhile. So with
several processes an account may exceed the limit by what the others add within a minute.
"""

from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from api.common.bounded_dict import BoundedDict
from api.common.clock import Clock
from api.common.errors import Conflict
from api.db.database import Database

COUNT_INTERVAL_MS = 60_000


class RowLimit(Struct, frozen=True):
    """Which rows of an account count, how many it may have, and how an error names both."""

    account: sa.Column[Any]  # the column of the account
    most: int
    what: str  # such as "an account has at most 5 lists"
    setting: str
    only: sa.ColumnElement[bool] | None = None  # which of its rows

    def rows(self, account_id: str) -> sa.Select[Any]:
        found = sa.select(sa.literal(1)).where(self.account == account_id)
        return found if self.only is None else found.where(self.only)

    def error(self) -> Conflict:
        return Conflict(f"{self.what.format(self.most)} ({self.setting})", "quota")


class _Counted(Struct):
    rows: int
    at_ms: int


class RowQuota:
    def __init__(
        self,
        database: Database,
        now_ms: Clock,
        limit: RowLimit,
        interval_ms: int = COUNT_INTERVAL_MS,
    ) -> None:
        self.limit = limit
        self._database = database
        self._now_ms = now_ms
        self._interval_ms = interval_ms
        self._counted: BoundedDict[str, _Counted] = BoundedDict()

    async def check(self, account_id: str) -> None:
        """Count a row that is about to be added; raises Conflict (`quota`)."""
        if not await self.has_room(account_id):
            raise self.limit.error()
        self.add(account_id, 1)

    async def has_room(self, account_id: str) -> bool:
        """Return whether an account may add a row."""
        found, now_ms = self._counted.get(account_id), self._now_ms()
        if found is None or now_ms - found.at_ms >= self._interval_ms:
            bounded = self.limit.rows(account_id).limit(self.limit.most).subquery()
            count = await self._database.scalar(sa.select(sa.func.count()).select_from(bounded))
            found = self._counted.put(account_id, _Counted(int(count), now_ms))
        return found.rows < self.limit.most

    def add(self, account_id: str, rows: int) -> None:
        """Count rows that were added, or removed, since the last count."""
        if (found := self._counted.get(account_id)) is not None:
            found.rows += rows
