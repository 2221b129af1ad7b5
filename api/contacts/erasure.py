"""Removes a person from contact lists, and the uploaded files that may contain the person."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from api.common.csv_injection import decode_escaped_csv
from api.contacts.imports.file_store import delete_files
from api.contacts.list_store import adjust_contact_count
from api.contacts.tables import contact_tags, contacts, files, imports, list_tags, lists, rejects
from api.contacts.tags import TagReplacementJob, TagStore
from api.db.columns import text_columns
from api.db.database import Database
from wire.erasure import NumberMatcher

PAGE_SIZE = 1_000
_COPIES = {f"{name}_key": f"of {name}" for name in ("f_name", "l_name", "email")}
TEXTS = text_columns(contacts, {"account_id": "the customer's", **_COPIES})


class ContactErasure(Struct, frozen=True):
    database: Database
    tags: TagStore

    async def erase(self, account_id: str, matcher: NumberMatcher) -> Counter[str]:
        """Remove a number's contacts, tags that name it, and rejected rows of imports.

        A tag is of all contacts of a list: they are not those of the number.
        """
        return Counter(
            {
                "contacts": await self._erase_contacts(account_id, matcher),
                "tags": await self._erase_tags(account_id, matcher),
                "rejected rows": await self._erase_rejects(account_id, matcher),
            }
        )

    async def erase_uploads(self, account_id: str) -> int:
        """Remove all uploaded files of an account.

        A person cannot be found in them and left out, as they are compressed, and some are
        workbooks.
        """
        return await delete_files(self.database, files.c.account_id == account_id)

    async def _erase_contacts(self, account_id: str, matcher: NumberMatcher) -> int:
        count, after = 0, 0
        while page := await self._contacts(account_id, after):
            for each in page:
                if _has(each, matcher):
                    count += await self._erase_contact(each.id, each.list_id)
            after = page[-1].id
        return count

    async def _erase_contact(self, contact_id: int, list_id: int) -> int:
        async with self.database.writing() as connection:
            deletion = sa.delete(contacts).where(contacts.c.id == contact_id)
            count = (await connection.execute(deletion)).rowcount
            if count:
                await adjust_contact_count(connection, list_id, -1)
        return count

    async def _contacts(self, account_id: str, after: int) -> Sequence[sa.Row[Any]]:
        query = (
            sa.select(contacts.c.id, contacts.c.list_id, *TEXTS)
            .where(contacts.c.account_id == account_id, contacts.c.id > after)
            .order_by(contacts.c.id)
            .limit(PAGE_SIZE)
        )
        return await self.database.rows(query)

    async def _erase_tags(self, account_id: str, matcher: NumberMatcher) -> int:
        """Remove tags of lists, and of their contacts; return how many lists had them."""
        found = set[tuple[int, str]]()
        for table in (list_tags, contact_tags):
            query = (
                sa.select(table.c.list_id, table.c.tag_id)
                .join(lists, lists.c.id == table.c.list_id)
                .where(lists.c.account_id == account_id)
                .distinct()
            )
            rows = await self.database.rows(query)
            found |= {(list_id, tag) for list_id, tag in rows if matcher.is_in(tag)}
        for list_id, tag in found:
            async with self.database.writing() as connection:
                await self.tags.change(connection, list_id, (), (tag,))
            replacement, after = TagReplacementJob(list_id, tag, None), 0
            while ids := await self.tags.replace_batch(account_id, replacement, after):
                after = ids[-1]
        return len(found)

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
            if any(matcher.is_in(cell) for row in decode_escaped_csv(cells) for cell in row)
        ]
        for job_id, line in found:
            is_it = (rejects.c.job_id == job_id, rejects.c.line == line)
            await self.database.execute(sa.delete(rejects).where(*is_it))
        return len(found)


def _has(contact: sa.Row[Any], matcher: NumberMatcher) -> bool:
    """Return whether a contact has the number, in any text of its row."""
    row: Sequence[Any] = contact
    texts = [text for text in row[2:] if text]  # of TEXTS
    return (
        contact.phone_number == matcher.number
        or matcher.is_in_json((contact.fields or "").encode())
        or any(matcher.is_in(each) for each in texts if each is not contact.fields)
    )
