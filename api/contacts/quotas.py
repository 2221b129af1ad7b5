"""What an account may store in contact lists: lists, contacts, bytes of files and downloads."""

from typing import Any, Self

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.errors import Conflict
from api.contacts.tables import files, imports, lists
from api.db.database import Database
from api.http.services import CommonServices
from api.jobs.artifacts import job_parts
from api.jobs.store import jobs

_LISTS, _CONTACTS = "SWITCHROOM_MAX_CONTACT_LISTS", "SWITCHROOM_MAX_CONTACTS"
_BYTES, _CONTACT_BYTES = "SWITCHROOM_MAX_STORED_BYTES", "SWITCHROOM_MAX_CONTACT_BYTES"


class ContactLimits(Struct, frozen=True):
    """Limits of one account."""

    lists: int = 1_000
    contacts: int = 5_000_000
    bytes: int = 4 << 30
    contact_bytes: int = 2 << 30


class ContactQuotas(Struct, frozen=True):
    """Checks raise Conflict (`quota`); what is rejected has stored nothing."""

    database: Database
    limits: ContactLimits = ContactLimits()

    @classmethod
    def build(cls, common: CommonServices) -> Self:
        settings = common.settings
        limits = ContactLimits(
            settings.max_contact_lists,
            settings.max_contacts,
            settings.max_stored_bytes,
            settings.max_contact_bytes,
        )
        return cls(common.database, limits)

    async def check_list(self, account_id: str) -> None:
        """Check that there is room for one more list."""
        count = sa.select(sa.func.count()).where(*_of(account_id))
        if await self.database.scalar(count) >= self.limits.lists:
            raise _exceeded(f"an account has at most {self.limits.lists} contact lists", _LISTS)

    async def check_contacts(
        self, connection: AsyncConnection, account_id: str, more: int = 0
    ) -> None:
        """Check the number of contacts, and more of them, and the bytes of their texts and tags.

        Within the transaction that has written some, or will.
        """
        stored, size = (await connection.execute(_contacts_of(account_id))).one()
        if stored + more > self.limits.contacts:
            raise _exceeded(f"an account has at most {self.limits.contacts} contacts", _CONTACTS)
        most = self.limits.contact_bytes
        if size > most - bool(more):  # a contact has at least a letter
            text = f"contacts of an account have at most {most} bytes of texts and tags"
            raise _exceeded(text, _CONTACT_BYTES)

    async def check_bytes(self, account_id: str, more: int) -> None:
        """Check that there is room for a file: uploads, downloads and rejected rows count."""
        async with self.database.reading() as connection:
            await self.check_bytes_within(connection, account_id, more)

    async def check_bytes_within(
        self, connection: AsyncConnection, account_id: str, more: int = 0
    ) -> None:
        """Check the bytes of files within a transaction that has written some.

        Not what failed jobs have written: it can't be read, and is deleted.
        """
        uploaded = _sum(files.c.bytes).where(files.c.account_id == account_id)
        rejected = _sum(imports.c.rejected_bytes).join(lists, lists.c.id == imports.c.list_id)
        made = _sum(sa.func.length(job_parts.c.body)).join(jobs, jobs.c.id == job_parts.c.job_id)
        queries = (
            uploaded,
            rejected.where(lists.c.account_id == account_id),
            made.where(jobs.c.account_id == account_id, jobs.c.state != "failed"),
        )
        query = sa.select(*(each.scalar_subquery() for each in queries))
        stored = sum((await connection.execute(query)).one())
        if stored + more > self.limits.bytes:
            text = f"files of an account have at most {self.limits.bytes} bytes, and {stored} are"
            raise _exceeded(f"{text} stored: delete lists, or wait until downloads expire", _BYTES)


def _contacts_of(account_id: str) -> sa.Select[Any]:
    """Select how many contacts an account has, and the bytes of their texts."""
    sums: list[Any] = [_total(each) for each in (lists.c.contacts, lists.c.bytes)]
    return sa.select(*sums).where(*_of(account_id))


def _sum(size: sa.ColumnElement[Any]) -> sa.Select[Any]:
    return sa.select(_total(size))


def _total(size: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
    return sa.cast(sa.func.coalesce(sa.func.sum(size), 0), sa.BigInteger)


def _of(account_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return lists.c.account_id == account_id, sa.not_(lists.c.is_deleted)


def _exceeded(detail: str, setting: str) -> Conflict:
    return Conflict(f"{detail} ({setting})", "quota")
