"""Message templates in the database, each an account's."""

import uuid
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.exc import IntegrityError

from api.common.clock import Clock
from api.common.errors import NotFound
from api.db.database import Database
from api.http.paging import Page
from api.templates.tables import templates
from wire.errors import BadInput

LEASE_MS = 120_000  # longer than the platform is waited for
NONE = "no template of this id"


class Template(Struct, frozen=True):
    """A template as it is kept."""

    id: str
    account_id: str
    name: str
    language: str
    category: str
    sub_category: str | None
    phone_number_id: str
    parameter_format: str
    platform_template_id: str | None
    is_primary_device_delivery_only: bool
    components: list[dict[str, Any]]
    status: str | None
    status_reason: str | None
    status_ms: int
    told_s: int
    created_ms: int
    updated_ms: int


class TemplateFilters(Struct, frozen=True):
    """Which templates; what is empty may be any."""

    name: str = ""
    category: str = ""
    status: str = ""
    phone_number_id: str = ""


class TemplateStore:
    """What is kept of templates."""

    def __init__(self, database: Database, now_ms: Clock) -> None:
        self._database = database
        self._now_ms = now_ms

    async def begin(self, account_id: str, columns: Mapping[str, Any]) -> tuple[Template, bool]:
        """Keep a template that is not on the platform yet; and whether it was begun before.

        One of the same name and language raises BadInput, unless its making was never answered.
        """
        now_ms = self._now_ms()
        row = {
            "sub_category": None,
            "platform_template_id": None,
            "status": None,
            "status_reason": None,
            **columns,
            "id": uuid.uuid4().hex,
            "account_id": account_id,
            **dict.fromkeys(("status_ms", "created_ms", "updated_ms"), now_ms),
            "told_s": 0,
        }
        try:
            async with self._database.writing() as connection:
                await connection.execute(sa.insert(templates).values(row))
        except IntegrityError:
            return await self._retry(account_id, columns), True
        return Template(**row), False

    async def get(self, account_id: str, template_id: str) -> Template:
        """Read one; raises NotFound."""
        async with self._database.reading() as connection:
            query = sa.select(templates).where(_is(account_id, template_id))
            row = (await connection.execute(query)).mappings().one_or_none()
        if row is None:
            raise NotFound(NONE)
        return Template(**row)

    async def listed(
        self, account_id: str, wanted: TemplateFilters, page: Page
    ) -> tuple[list[Template], int]:
        """Read a page, newest first, and count all."""
        fits = sa.and_(templates.c.account_id == account_id, *_conditions(wanted))
        query = (
            sa.select(templates)
            .where(fits)
            .order_by(templates.c.created_ms.desc(), templates.c.id.desc())
            .limit(page.limit)
            .offset(page.offset)
        )
        count = sa.select(sa.func.count()).select_from(templates).where(fits)
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).mappings().all()
            total = (await connection.execute(count)).scalar_one()
        return [Template(**row) for row in rows], int(total)

    async def change(
        self, account_id: str, template_id: str, columns: Mapping[str, Any]
    ) -> Template:
        """Change a template; raises NotFound."""
        values = {**columns, "updated_ms": self._now_ms()}
        change = sa.update(templates).where(_is(account_id, template_id)).values(values)
        async with self._database.writing() as connection:
            row = (await connection.execute(change.returning(templates))).mappings().one_or_none()
        if row is None:
            raise NotFound(NONE)
        return Template(**row)

    async def remove(self, account_id: str, template_id: str) -> None:
        """Take a template away; raises NotFound."""
        removal = sa.delete(templates).where(_is(account_id, template_id))
        async with self._database.writing() as connection:
            if not (await connection.execute(removal)).rowcount:
                raise NotFound(NONE)

    async def _retry(self, account_id: str, columns: Mapping[str, Any]) -> Template:
        now_ms = self._now_ms()
        again = (
            sa.update(templates)
            .where(
                templates.c.account_id == account_id,
                templates.c.name == columns["name"],
                templates.c.language == columns["language"],
                templates.c.platform_template_id.is_(None),
                templates.c.updated_ms <= now_ms - LEASE_MS,
            )
            .values(**columns, updated_ms=now_ms)
            .returning(templates)
        )
        async with self._database.writing() as connection:
            row = (await connection.execute(again)).mappings().one_or_none()
        if row is None:
            text = "there is a template of this name and language already"
            raise BadInput("name", text, "taken")
        return Template(**row)


def _conditions(wanted: TemplateFilters) -> list[sa.ColumnElement[bool]]:
    exact = {
        templates.c.category: wanted.category,
        templates.c.status: wanted.status,
        templates.c.phone_number_id: wanted.phone_number_id,
    }
    found = [column == value for column, value in exact.items() if value]
    if wanted.name:
        found.append(templates.c.name.contains(wanted.name, autoescape=True))
    return found


def _is(account_id: str, template_id: str) -> sa.ColumnElement[bool]:
    if not template_id.isprintable():  # PostgreSQL takes no NUL, not even to look for it
        raise NotFound(NONE)
    return sa.and_(templates.c.id == template_id, templates.c.account_id == account_id)
