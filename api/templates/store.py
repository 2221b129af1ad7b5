"""Message templates in the database; each belongs to an account.

A template without a platform id is pending: the platform has not answered its creation. The next
status of its name and language settles it.
"""

import uuid
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.exc import IntegrityError

from api.common.errors import NotFound
from api.db.database import Store, metadata
from api.db.page_bytes import fits_page, sized_page, text_size
from api.db.row_quota import RowLimit
from api.http.paging import Page
from wire.decoding.errors import BadInput

LEASE_MS = 120_000  # longer than the timeout of requests to the platform
NOT_FOUND = "no template of this id"
templates = sa.Table(
    "msgapp_templates",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("name", sa.String(512), nullable=False),
    sa.Column("language", sa.String(16), nullable=False),
    sa.Column("category", sa.String(64), nullable=False),
    sa.Column("sub_category", sa.String(64)),
    sa.Column("phone_number_id", sa.String(64), nullable=False),
    sa.Column("parameter_format", sa.String(16), nullable=False),
    sa.Column("platform_template_id", sa.String(64)),
    sa.Column("is_primary_device_delivery_only", sa.Boolean, nullable=False),
    sa.Column("components", sa.JSON, nullable=False),
    sa.Column("status", sa.Text),
    sa.Column("status_reason", sa.Text),
    sa.Column("status_ms", sa.BigInteger, nullable=False),  # when the status was last updated
    sa.Column(
        "status_s", sa.BigInteger, nullable=False
    ),  # time of the last webhook, by the platform's clock
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("updated_ms", sa.BigInteger, nullable=False),
    sa.Index("msgapp_templates_by_name", "account_id", "name", "language", unique=True),
    sa.Index("msgapp_templates_by_time", "account_id", "created_ms", "id"),
    sa.Index("msgapp_templates_by_platform", "platform_template_id", "account_id"),
)


class Template(Struct, frozen=True):
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
    status_s: int
    created_ms: int
    updated_ms: int


class TemplateFilters(Struct, frozen=True):
    """Filters of a list; an empty one matches any."""

    name: str = ""
    category: str = ""
    status: str = ""
    phone_number_id: str = ""


def template_limit(most: int) -> RowLimit:
    """Return the limit of an account's message templates."""
    what = "an account has at most {:,} message templates"
    return RowLimit(templates.c.account_id, most, what, "SWITCHROOM_MAX_DOCUMENTS")


class TemplateStore(Store):
    async def begin(self, account_id: str, columns: Mapping[str, Any]) -> tuple[Template, bool]:
        """Store a template before it is created on the platform; return whether this is a retry.

        One of the same name and language raises BadInput, unless it is pending and its lease is
        over.
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
            "status_s": 0,
        }
        try:
            await self._database.execute(sa.insert(templates).values(row))
        except IntegrityError:
            return await self._retry(account_id, columns), True
        return Template(**row), False

    async def get(self, account_id: str, template_id: str) -> Template:
        """Return a template; raises NotFound."""
        query = sa.select(templates).where(_is(account_id, template_id))
        rows = await self._database.mappings(query)
        if not rows:
            raise NotFound(NOT_FOUND)
        return Template(**rows[0])

    async def page(
        self, account_id: str, filters: TemplateFilters, page: Page
    ) -> tuple[list[Template], int]:
        """Return a page, newest first, and the total."""
        condition = sa.and_(templates.c.account_id == account_id, *_conditions(filters))
        ids = (
            sa.select(templates.c.id, templates.c.created_ms)
            .where(condition)
            .order_by(templates.c.created_ms.desc(), templates.c.id.desc())
        )
        found = ids.limit(page.limit).offset(page.offset).subquery()
        rows = found.join(templates, templates.c.id == found.c.id)
        sized = sized_page(found, rows, text_size(templates.c.components), _newest_first)
        query = (
            sa.select(templates)
            .join_from(sized, templates, templates.c.id == sized.c.id)
            .where(fits_page(sized))
            .order_by(*_newest_first(sized))
        )
        count = sa.select(sa.func.count()).select_from(templates).where(condition)
        total = int(await self._database.scalar(count))
        return [Template(**row) for row in await self._database.mappings(query)], total

    async def change(
        self, account_id: str, template_id: str, columns: Mapping[str, Any]
    ) -> Template:
        """Change a template; raises NotFound."""
        values = {**columns, "updated_ms": self._now_ms()}
        change = sa.update(templates).where(_is(account_id, template_id)).values(values)
        async with self._database.writing() as connection:
            row = (await connection.execute(change.returning(templates))).mappings().one_or_none()
        if row is None:
            raise NotFound(NOT_FOUND)
        return Template(**row)

    async def delete(self, account_id: str, template_id: str) -> None:
        """Delete a template; raises NotFound."""
        removal = sa.delete(templates).where(_is(account_id, template_id))
        if not await self._database.execute(removal):
            raise NotFound(NOT_FOUND)

    async def _retry(self, account_id: str, columns: Mapping[str, Any]) -> Template:
        now_ms = self._now_ms()
        takeover = (
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
            row = (await connection.execute(takeover)).mappings().one_or_none()
        if row is None:
            text = "there is a template of this name and language already"
            raise BadInput("name", text, "taken")
        return Template(**row)


def _newest_first(page: sa.FromClause) -> list[sa.ColumnElement[Any]]:
    return [page.c.created_ms.desc(), page.c.id.desc()]


def _conditions(filters: TemplateFilters) -> list[sa.ColumnElement[bool]]:
    exact = {
        templates.c.category: filters.category,
        templates.c.status: filters.status,
        templates.c.phone_number_id: filters.phone_number_id,
    }
    conditions = [column == value for column, value in exact.items() if value]
    if filters.name:
        conditions.append(templates.c.name.contains(filters.name.lower(), autoescape=True))
    return conditions


def _is(account_id: str, template_id: str) -> sa.ColumnElement[bool]:
    if not template_id.isprintable():  # PostgreSQL takes no NUL, not even to look for it
        raise NotFound(NOT_FOUND)
    return sa.and_(templates.c.id == template_id, templates.c.account_id == account_id)
