"""Removes a person from contact lists, and the files that may contain the person."""

from collections import Counter

import sqlalchemy as sa
from msgspec import Struct

from api.contacts.list_store import adjust_contact_count
from api.contacts.tables import contacts, files, imports, lists, rejects
from api.db.database import Database
from api.jobs.artifacts import job_parts
from api.jobs.tables import UNFINISHED, jobs
from wire.erasure import NumberMatcher

PAGE_SIZE = 1_000


class ContactErasure(Struct, frozen=True):
    database: Database

    async def erase(self, account_id: str, matcher: NumberMatcher) -> Counter[str]:
        """Remove a number's contacts, and the rows of imports that were rejected."""
        return Counter(
            {
                "contacts": await self._erase_contacts(account_id, matcher),
                "rejected rows": await self._erase_rejects(account_id, matcher),
            }
        )

    async def erase_files(self, account_id: str) -> Counter[str]:
        """Remove all uploaded files and downloads of an account.

        They are copies: lists can be exported again. A person cannot be found in them and left
        out, as they are compressed, and some are workbooks.
        """
        return Counter(
            {
                "uploaded files": await self._erase_uploads(account_id),
                "downloads": await self._erase_downloads(account_id),
            }
        )

    async def unfinished_jobs(self, account_id: str) -> int:
        """Count the jobs that may still read or write the person."""
        query = sa.select(sa.func.count()).where(
            jobs.c.account_id == account_id, jobs.c.state.in_(UNFINISHED)
        )
        return int(await self.database.scalar(query))

    async def _erase_contacts(self, account_id: str, matcher: NumberMatcher) -> int:
        ids = await self._contacts(account_id, matcher)
        for contact_id, list_id in ids:
            async with self.database.writing() as connection:
                deletion = sa.delete(contacts).where(contacts.c.id == contact_id)
                if (await connection.execute(deletion)).rowcount:
                    await adjust_contact_count(connection, list_id, -1)
        return len(ids)

    async def _contacts(self, account_id: str, matcher: NumberMatcher) -> list[tuple[int, int]]:
        """Return the contacts that have the number, also in a field, and their lists."""
        text = matcher.needle.decode()
        query = sa.select(
            contacts.c.id, contacts.c.list_id, contacts.c.phone_number, contacts.c.fields
        ).where(
            contacts.c.account_id == account_id,
            sa.or_(
                contacts.c.phone_number == matcher.number,
                contacts.c.fields.contains(text, autoescape=True),
            ),
        )
        return [
            (contact_id, list_id)
            for contact_id, list_id, number, fields in await self.database.rows(query)
            if number == matcher.number or matcher.is_in_json((fields or "").encode())
        ]

    async def _erase_rejects(self, account_id: str, matcher: NumberMatcher) -> int:
        of_account = (
            sa.select(rejects.c.job_id, rejects.c.line, rejects.c.cells)
            .join(imports, imports.c.job_id == rejects.c.job_id)
            .join(lists, lists.c.id == imports.c.list_id)
            .where(lists.c.account_id == account_id)
        )
        found = [
            (job_id, line)
            for job_id, line, cells in await self.database.rows(of_account)
            if matcher.is_in_json(cells.encode())
        ]
        for job_id, line in found:
            is_it = (rejects.c.job_id == job_id, rejects.c.line == line)
            await self.database.execute(sa.delete(rejects).where(*is_it))
        return len(found)

    async def _erase_uploads(self, account_id: str) -> int:
        return await self.database.execute(sa.delete(files).where(files.c.account_id == account_id))

    async def _erase_downloads(self, account_id: str) -> int:
        ids = sa.select(jobs.c.id).where(jobs.c.account_id == account_id)
        query = sa.select(sa.func.count(sa.distinct(job_parts.c.job_id))).where(
            job_parts.c.job_id.in_(ids)
        )
        count = int(await self.database.scalar(query))
        await self.database.execute(sa.delete(job_parts).where(job_parts.c.job_id.in_(ids)))
        return count
