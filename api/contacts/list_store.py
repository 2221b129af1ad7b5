"""Contact lists in the database, each with its tags.

A deleted list is hidden at once; its contacts are deleted in batches. While a list's file is
processed, and after it, the list's status is that of the job: however a job ends (it is cancelled,
say, or each of its processes dies), its list is not `PROCESSING`.
"""

from collections.abc import Mapping
from typing import Any, Literal

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.accounts.store import accounts
from api.common.errors import NotFound
from api.contacts.search_keys import normalize
from api.contacts.tables import files, imports, list_tags, lists
from api.db.database import Store
from api.db.page_bytes import fits_page, sized_page, text_size
from api.jobs.store import jobs

Status = Literal["CREATED", "UPLOADED", "MAPPING_DONE", "PROCESSING", "COMPLETED", "FAILED"]
_STATUSES = {"done": "COMPLETED", "failed": "FAILED"}  # by the state of the import's job
_IMPORT_STATUS = (
    sa.select(sa.case(_STATUSES, value=jobs.c.state, else_="PROCESSING"))
    .join(imports, imports.c.job_id == jobs.c.id)
    .where(imports.c.list_id == lists.c.id)
    .scalar_subquery()
)
_STATUS = sa.case(
    (lists.c.status == "PROCESSING", sa.func.coalesce(_IMPORT_STATUS, "FAILED")),
    else_=lists.c.status,
).label("status")
_HIDDEN = ("name_key", "is_deleted", "status", "bytes")
_COLUMNS = [*(column for column in lists.c if column.name not in _HIDDEN), _STATUS]

_LARGE = (lists.c.description, lists.c.assigned_fields, files.c.headers, files.c.mappings)


class ContactList(Struct, frozen=True):
    id: int
    account_id: str
    name: str
    description: str
    status: Status
    is_default: bool
    is_active: bool
    assigned_fields: tuple[str, ...]
    additional_fields: tuple[str, ...]
    contacts: int
    created_ms: int
    updated_ms: int
    tags: tuple[str, ...] = ()


class ListFilters(Struct, frozen=True):
    """Filters of lists; any of the tags matches."""

    name: str = ""
    status: str = ""
    tags: tuple[str, ...] = ()


class ListStore(Store):
    async def get(self, account_id: str, list_id: int) -> ContactList:
        """Return a list; raises NotFound."""
        async with self._database.reading() as connection:
            return await self.read(connection, account_id, list_id)

    async def default(self, account_id: str) -> ContactList:
        """Return an account's default list; raises NotFound."""
        query = sa.select(*_COLUMNS).where(visible_lists(account_id), lists.c.is_default)
        async with self._database.reading() as connection:
            try:
                return await _one(connection, query)
            except NotFound:
                raise NotFound("required: the account has no default list") from None

    async def read(self, connection: AsyncConnection, account_id: str, list_id: int) -> ContactList:
        """Return a list, within a transaction; raises NotFound."""
        return await _one(connection, _select(account_id, list_id))

    async def lock(self, connection: AsyncConnection, account_id: str, list_id: int) -> ContactList:
        """Return a list, locked until the transaction ends; raises NotFound.

        It is read after it is locked: who waits for a lock would see the other tables as before.
        """
        row = sa.select(lists.c.id).where(lists.c.account_id == account_id, lists.c.id == list_id)
        await connection.execute(row.with_for_update(key_share=True))
        return await self.read(connection, account_id, list_id)

    async def page(
        self, account_id: str, filters: ListFilters, limit: int, offset: int
    ) -> tuple[list[ContactList], int]:
        """Return a page of an account's lists, newest first, and the total."""
        condition = sa.and_(visible_lists(account_id), *_conditions(filters))
        ids = sa.select(lists.c.id).where(condition).order_by(lists.c.id.desc())
        found = ids.limit(limit).offset(offset).subquery()
        rows = found.join(lists, lists.c.id == found.c.id).outerjoin(
            files, files.c.list_id == lists.c.id
        )
        sized = sized_page(found, rows, text_size(*_LARGE), lambda sized: [sized.c.id.desc()])
        page = (
            sa.select(*_COLUMNS)
            .join_from(sized, lists, lists.c.id == sized.c.id)
            .where(fits_page(sized))
            .order_by(sized.c.id.desc())
        )
        async with self._database.reading() as connection:
            read = (await connection.execute(page)).mappings()
            page_lists = await _with_tags(connection, [dict(row) for row in read])
            total = sa.select(sa.func.count()).select_from(lists).where(condition)
            return page_lists, int((await connection.execute(total)).scalar_one())

    async def add(
        self, connection: AsyncConnection, account_id: str, values: Mapping[str, Any]
    ) -> int:
        """Add a list within a transaction, and return its id; a default list replaces the other."""
        if values["is_default"]:
            await self._clear_default(connection, account_id)
        now_ms = self._now_ms()
        row = {
            "account_id": account_id,
            "is_deleted": False,
            "contacts": 0,
            "created_ms": now_ms,
            "updated_ms": now_ms,
            "name_key": normalize(values["name"]),
            **values,
        }
        added = await connection.execute(sa.insert(lists).values(row).returning(lists.c.id))
        return int(added.scalar_one())

    async def change(
        self, connection: AsyncConnection, account_id: str, list_id: int, values: Mapping[str, Any]
    ) -> None:
        """Change a list within a transaction; raises NotFound."""
        if values.get("is_default"):
            await self._clear_default(connection, account_id)
        keys = {"name_key": normalize(values["name"])} if "name" in values else {}
        change = (
            sa.update(lists)
            .where(visible_lists(account_id), lists.c.id == list_id)
            .values({**values, **keys, "updated_ms": self._now_ms()})
        )
        if not (await connection.execute(change)).rowcount:
            raise NotFound("no contact list of this id")

    async def _clear_default(self, connection: AsyncConnection, account_id: str) -> None:
        """Make no list the default; the account's row is locked, so that two transactions wait."""
        account = sa.select(accounts.c.id).where(accounts.c.id == account_id)
        await connection.execute(account.with_for_update(key_share=True))
        change = sa.update(lists).where(visible_lists(account_id), lists.c.is_default)
        await connection.execute(change.values(is_default=False))


def visible_lists(account_id: str) -> sa.ColumnElement[bool]:
    """Return the condition for an account's lists, without the deleted ones."""
    return sa.and_(lists.c.account_id == account_id, sa.not_(lists.c.is_deleted))


def deleted_lists(account_id: str) -> sa.ScalarSelect[int]:
    """Return the ids of deleted lists, for `contacts.list_id.not_in(...)`."""
    query = sa.select(lists.c.id).where(lists.c.account_id == account_id, lists.c.is_deleted)
    return query.scalar_subquery()


def _select(account_id: str, list_id: int) -> sa.Select[Any]:
    return sa.select(*_COLUMNS).where(visible_lists(account_id), lists.c.id == list_id)


async def _one(connection: AsyncConnection, query: sa.Select[Any]) -> ContactList:
    row = (await connection.execute(query)).mappings().first()
    if row is None:
        raise NotFound("no contact list of this id")
    return (await _with_tags(connection, [dict(row)]))[0]


async def adjust_contact_count(connection: AsyncConnection, list_id: int, difference: int) -> None:
    """Change the number of contacts, in the transaction that adds or deletes some."""
    change = sa.update(lists).where(lists.c.id == list_id)
    await connection.execute(change.values(contacts=lists.c.contacts + difference))


def _conditions(filters: ListFilters) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if filters.name:
        conditions.append(lists.c.name_key.contains(normalize(filters.name), autoescape=True))
    if filters.status:
        conditions.append(_STATUS.element == filters.status)
    if filters.tags:
        with_tag = sa.select(list_tags.c.list_id).where(list_tags.c.tag_id.in_(filters.tags))
        conditions.append(lists.c.id.in_(with_tag))
    return conditions


async def _with_tags(connection: AsyncConnection, rows: list[dict[str, Any]]) -> list[ContactList]:
    query = (
        sa.select(list_tags.c.list_id, list_tags.c.tag_id)
        .where(list_tags.c.list_id.in_([row["id"] for row in rows]))
        .order_by(list_tags.c.list_id, list_tags.c.tag_id)
    )
    tags: dict[int, list[str]] = {}
    for list_id, tag_id in (await connection.execute(query)) if rows else ():
        tags.setdefault(list_id, []).append(tag_id)
    for row in rows:
        row["assigned_fields"] = tuple(row["assigned_fields"])
        row["additional_fields"] = tuple(row["additional_fields"])
    return [ContactList(**row, tags=tuple(tags.get(row["id"], ()))) for row in rows]
