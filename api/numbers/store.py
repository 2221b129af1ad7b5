"""Numbers of the messaging platform in the database; each belongs to an account."""

import uuid
from collections.abc import Mapping
from typing import Any, Literal

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.exc import IntegrityError

from api.common.errors import NotFound
from api.db.database import Store, metadata
from api.db.row_quota import RowLimit
from api.http.paging import Page
from wire.decoding.errors import BadInput

NOT_FOUND = "no number record of this id"

numbers = sa.Table(
    "msgapp_numbers",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("business_name", sa.String(256), nullable=False),
    sa.Column("phone_number_id", sa.String(64), nullable=False),
    sa.Column("business_msgapp_number", sa.String(32), nullable=False),
    sa.Column("flowbuilder_id", sa.String(64)),
    sa.Column("verified", sa.Boolean, nullable=False),
    sa.Column("is_active", sa.Boolean, nullable=False),
    sa.Column("via", sa.String(16)),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("updated_ms", sa.BigInteger, nullable=False),
    sa.Index("msgapp_numbers_by_phone", "account_id", "phone_number_id", unique=True),
    sa.Index("msgapp_numbers_by_time", "account_id", "created_ms", "id"),
)


class Number(Struct, frozen=True):
    id: str
    account_id: str
    business_name: str
    phone_number_id: str
    business_msgapp_number: str
    flowbuilder_id: str | None
    verified: bool
    is_active: bool
    via: Literal["add", "register"] | None
    created_ms: int
    updated_ms: int


def number_limit(most: int) -> RowLimit:
    """Return the limit of an account's number records."""
    what = "an account has at most {:,} number records"
    return RowLimit(numbers.c.account_id, most, what, "SWITCHROOM_MAX_DOCUMENTS")


class NumberStore(Store):
    async def add(self, account_id: str, columns: Mapping[str, Any]) -> Number:
        """Store a number; raises BadInput if the account has it already."""
        now_ms = self._now_ms()
        times = {"created_ms": now_ms, "updated_ms": now_ms}
        row = {**columns, **times, "id": uuid.uuid4().hex, "account_id": account_id}
        await self._execute(sa.insert(numbers).values(row))
        return Number(**row)

    async def page(self, account_id: str, page: Page) -> tuple[list[Number], int]:
        """Return a page, newest first, and the total."""
        query = (
            sa.select(numbers)
            .where(numbers.c.account_id == account_id)
            .order_by(numbers.c.created_ms.desc(), numbers.c.id.desc())
        )
        rows, total = await self._database.page(query, page.limit, page.offset)
        return [Number(**row) for row in rows], total

    async def get(self, account_id: str, number_id: str) -> Number:
        """Return a number; raises NotFound."""
        return await self._one(_is(account_id, number_id))

    async def get_by_phone_number_id(self, account_id: str, phone_number_id: str) -> Number:
        """Return the number with an id of the platform; raises NotFound."""
        in_account = numbers.c.account_id == account_id
        return await self._one(sa.and_(in_account, numbers.c.phone_number_id == phone_number_id))

    async def change(self, account_id: str, number_id: str, columns: Mapping[str, Any]) -> None:
        """Change a number; raises NotFound, or BadInput if the account has another such number."""
        values = {**columns, "updated_ms": self._now_ms()}
        change = sa.update(numbers).where(_is(account_id, number_id)).values(values)
        if not await self._execute(change):
            raise NotFound(NOT_FOUND)

    async def delete(self, account_id: str, number_id: str) -> None:
        """Delete a number; raises NotFound."""
        if not await self._execute(sa.delete(numbers).where(_is(account_id, number_id))):
            raise NotFound(NOT_FOUND)

    async def _one(self, condition: sa.ColumnElement[bool]) -> Number:
        rows = await self._database.mappings(sa.select(numbers).where(condition))
        if not rows:
            raise NotFound(NOT_FOUND)
        return Number(**rows[0])

    async def _execute(self, statement: sa.Insert | sa.Update | sa.Delete) -> int:
        try:
            return await self._database.execute(statement)
        except IntegrityError:
            text = "there is a number record of this platform id already"
            raise BadInput("phoneNumberId", text, "taken") from None


def _is(account_id: str, number_id: str) -> sa.ColumnElement[bool]:
    if not number_id.isprintable():  # PostgreSQL takes no NUL, not even to look for it
        raise NotFound(NOT_FOUND)
    return sa.and_(numbers.c.id == number_id, numbers.c.account_id == account_id)
