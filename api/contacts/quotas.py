"""What an account may store in contact lists: lists, contacts, bytes of files and downloads."""

from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.errors import Conflict
from api.contacts.tables import files, lists
from api.db.database import Database
from api.jobs.artifacts import job_parts
from api.jobs.tables import jobs

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

    async def check_list(self, account_id: str) -> None:
        """Check that there is room for one more list."""
        count = sa.select(sa.func.count()).where(*_of(account_id))
        if await self.database.scalar(count) >= self.limits.lists:
            raise _exceeded(f"an account has at most {self.limits.lists} contact lists", _LISTS)

    async def check_contacts(self, account_id: str, more: int = 1) -> None:
        """Check that there is room for so many more contacts, and for more of their texts."""
        ((stored, size),) = await self.database.rows(_contacts_of(account_id))
        if stored + more > self.limits.contacts:
            most = self.limits.contacts
            text = f"an account has at most {most} contacts, and this one has {stored}"
            raise _exceeded(text, _CONTACTS)
        self._check_contact_bytes(size + 1)

    async def check_contacts_of(self, connection: AsyncConnection, account_id: str) -> None:
        """Check that there are not too many contacts, within the transaction that wrote some."""
        stored, size = (await connection.execute(_contacts_of(account_id))).one()
        if stored > self.limits.contacts:
            raise _exceeded(f"an account has at most {self.limits.contacts} contacts", _CONTACTS)
        self._check_contact_bytes(size)

    async def check_bytes(self, account_id: str, more: int) -> None:
        """Check that there is room for a file: uploads and downloads count.

        Not what failed jobs have written: it can't be read, and is deleted.
        """
        uploaded = sa.select(sa.func.coalesce(sa.func.sum(files.c.bytes), 0)).where(
            files.c.account_id == account_id
        )
        made = (
            sa.select(sa.func.coalesce(sa.func.sum(sa.func.length(job_parts.c.body)), 0))
            .join(jobs, jobs.c.id == job_parts.c.job_id)
            .where(jobs.c.account_id == account_id, jobs.c.state != "failed")
        )
        stored = int(await self.database.scalar(uploaded))
        stored += int(await self.database.scalar(made))
        if stored + more > self.limits.bytes:
            text = f"files of an account have at most {self.limits.bytes} bytes, and {stored} are"
            raise _exceeded(f"{text} stored: delete lists, or wait until downloads expire", _BYTES)

    def _check_contact_bytes(self, size: int) -> None:
        if size > self.limits.contact_bytes:
            text = f"contacts of an account have at most {self.limits.contact_bytes} bytes of text"
            raise _exceeded(text, _CONTACT_BYTES)


def _contacts_of(account_id: str) -> sa.Select[Any]:
    """Select how many contacts an account has, and the bytes of their texts."""
    sums: list[Any] = [
        sa.cast(sa.func.coalesce(sa.func.sum(each), 0), sa.BigInteger)
        for each in (lists.c.contacts, lists.c.bytes)
    ]
    return sa.select(*sums).where(*_of(account_id))


def _of(account_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return lists.c.account_id == account_id, sa.not_(lists.c.is_deleted)


def _exceeded(detail: str, setting: str) -> Conflict:
    return Conflict(f"{detail} ({setting})", "quota")
