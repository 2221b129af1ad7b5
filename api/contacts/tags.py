"""Tags of lists and of their contacts, which are replaced in batches.

Each batch is a transaction of its own, so that a large list blocks others only briefly; replacing a
tag twice changes nothing the second time.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
import sqlalchemy as sa
from msgspec import Meta, Struct, field
from pydantic import AfterValidator, Field
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.errors import Conflict
from api.contacts.ids import parse_id
from api.contacts.list_store import ListStore
from api.contacts.quotas import ContactQuotas
from api.contacts.tables import contact_tags, contacts, list_tags
from api.db.database import INSERTS, Database
from api.jobs.store import Job, JobStore
from api.jobs.worker import PermanentFailure, Progress
from base.limit import Limit
from wire.decoding import patterns
from wire.decoding.errors import BadInput

TAG = patterns.TAG
MAX_TAGS_OF_QUERY = 20
_TAG = re.compile(TAG)
BATCH_ROWS = 500  # some ms, during which no other account writes to SQLite
MAX_TAGS_OF_CONTACT: Annotated[
    int, Limit("account", "further ones are left out", "Tags of one contact.")
] = 100
KIND = "contact-tags"
MAX_SYNCHRONOUS = 1_000  # contacts of a list; more are changed in the background
MAX_TAGS: Annotated[int, Limit("request", "400 `invalid`", "Tags of a contact list.")] = 100


def _validate_tags(text: str) -> str:
    tags = split_tags(text)
    if len(tags) > MAX_TAGS_OF_QUERY or not all(map(_TAG.search, tags)):
        raise ValueError(f"expected at most {MAX_TAGS_OF_QUERY} tag ids, separated by commas")
    return text


def split_tags(text: str) -> tuple[str, ...]:
    """Return the distinct tags of a comma-separated text, without the spaces around them.

    Other blanks are part of a tag, as of the pattern.
    """
    return tuple(dict.fromkeys(filter(None, (tag.strip(" ") for tag in text.split(",")))))


Tags = Annotated[
    str,
    Field(max_length=2_048, description="Any of several, separated by commas."),
    AfterValidator(_validate_tags),
]


Tag = Annotated[str, Meta(pattern=TAG)]


TagIds = Annotated[tuple[Tag, ...], Meta(max_length=100)]  # null: none


class ListTagsRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The tags to add to a list, and to remove."""

    add: TagIds = field(name="tagsToAdd", default=())
    remove: TagIds = field(name="tagsToRemove", default=())


class ManageTagsRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The tag to remove from a list's contacts, and the one to add instead.

    Without the first, all contacts get the second; without the second, those that have the first
    lose it.
    """

    remove: Tag | None = field(name="removeTag", default=None)
    insert: Tag | None = field(name="insertTag", default=None)


class TagReplacementJob(Struct, frozen=True):
    """The list, the tag to remove from its contacts, and the tag to add."""

    list_id: int
    remove: str | None
    insert: str | None

    @property
    def is_longer(self) -> bool:
        """Whether contacts have more bytes of tags than before."""
        return len((self.insert or "").encode()) > len((self.remove or "").encode())


class TagStore(Struct, frozen=True):
    database: Database
    quotas: ContactQuotas

    async def change(
        self, connection: AsyncConnection, list_id: int, add: Sequence[str], remove: Sequence[str]
    ) -> None:
        """Add and remove a list's tags within a transaction."""
        own = list_tags.c.list_id == list_id
        await connection.execute(sa.delete(list_tags).where(own, list_tags.c.tag_id.in_(remove)))
        rows = [{"list_id": list_id, "tag_id": tag} for tag in dict.fromkeys(add)]
        if rows:
            insert = INSERTS[connection.dialect.name](list_tags).on_conflict_do_nothing()
            await connection.execute(insert, rows)

    async def replace_batch(self, account_id: str, job: TagReplacementJob, after: int) -> list[int]:
        """Replace the tag of the next contacts after an id; return their ids, none at the end.

        Raises Conflict beyond the quota.
        """
        async with self.database.writing() as connection:
            ids = await _next_ids(connection, job, after)
            if ids and job.insert:
                await _insert(connection, job, ids)
            if ids and job.remove:
                await connection.execute(_deletion(job.list_id, job.remove, ids))
            if ids and job.is_longer:
                await self.quotas.check_contacts(connection, account_id)
        return ids


async def _next_ids(connection: AsyncConnection, job: TagReplacementJob, after: int) -> list[int]:
    if job.remove:
        has_tag, contact_id = contact_tags.c.tag_id == job.remove, contact_tags.c.contact_id
        condition = sa.and_(contact_tags.c.list_id == job.list_id, has_tag)
    else:
        contact_id, condition = contacts.c.id, contacts.c.list_id == job.list_id
    query = sa.select(contact_id).where(condition, contact_id > after).order_by(contact_id)
    return list((await connection.execute(query.limit(BATCH_ROWS))).scalars())


async def _insert(connection: AsyncConnection, job: TagReplacementJob, ids: list[int]) -> None:
    # Waits for transactions that delete or move a contact, and leaves out that contact then.
    in_list = sa.and_(contacts.c.list_id == job.list_id, contacts.c.id.in_(ids))
    others = contact_tags.c.tag_id != (job.remove or "")
    tags = sa.select(sa.func.count()).where(contact_tags.c.contact_id == contacts.c.id, others)
    has_room = tags.scalar_subquery() < MAX_TAGS_OF_CONTACT
    query = sa.select(contacts.c.id).where(in_list, has_room)
    locked = await connection.execute(query.with_for_update(read=True, key_share=True))
    insert = INSERTS[connection.dialect.name](contact_tags).on_conflict_do_nothing()
    rows = [
        {"list_id": job.list_id, "tag_id": job.insert, "contact_id": each}
        for each in locked.scalars()
    ]
    if rows:
        await connection.execute(insert, rows)


def _deletion(list_id: int, tag: str, ids: list[int]) -> sa.Delete:
    has_tag = sa.and_(contact_tags.c.list_id == list_id, contact_tags.c.tag_id == tag)
    in_batch = contact_tags.c.contact_id.between(ids[0], ids[-1])
    return sa.delete(contact_tags).where(has_tag, in_batch)


class ListTags(Struct, frozen=True, rename="camel"):
    """The tags of a list."""

    contact_list_id: str
    tags: tuple[str, ...]


class TagReplacement(Struct, frozen=True, rename="camel"):
    """The state of a replacement; `contacts` counts those changed so far."""

    contact_list_id: str
    state: Literal["done", "waiting"]
    contacts: int


class TagService(Struct, frozen=True):
    database: Database
    lists: ListStore
    tags: TagStore
    jobs: JobStore

    async def change(self, account_id: str, list_id: str, body: ListTagsRequest) -> ListTags:
        """Change a list's tags; raises NotFound or BadInput."""
        _check_tags(body)
        checked_id = parse_id(list_id, "contact list")
        async with self.database.writing() as connection:
            await self.lists.read(connection, account_id, checked_id)
            await self.tags.change(connection, checked_id, body.add, body.remove)
            tags = (await self.lists.read(connection, account_id, checked_id)).tags
            if len(tags) > MAX_TAGS:
                raise BadInput("tagsToAdd", f"a list has at most {MAX_TAGS} tags")
        return ListTags(list_id, tags)

    async def replace(
        self, account_id: str, list_id: str, body: ManageTagsRequest
    ) -> TagReplacement:
        """Replace a tag of a list's contacts: at once, or in the background if they are many."""
        if not (body.remove or body.insert):
            raise BadInput("removeTag", "removeTag or insertTag must be given")
        if body.remove == body.insert:
            raise BadInput("insertTag", "the same as removeTag")
        contact_list = await self.lists.get(account_id, parse_id(list_id, "contact list"))
        replacement = TagReplacementJob(contact_list.id, body.remove, body.insert)
        if contact_list.contacts > MAX_SYNCHRONOUS:
            async with self.database.writing() as connection:
                payload = msgspec.to_builtins(replacement)
                await self.jobs.add(connection, KIND, account_id, payload)
            return TagReplacement(list_id, "waiting", 0)
        return TagReplacement(list_id, "done", await self._replace(account_id, replacement))

    async def run(self, job: Job, progress: Progress) -> dict[str, Any]:
        """Replace a tag in the background; a retry continues with the contacts that are left."""
        replacement = msgspec.convert(job.payload, TagReplacementJob)
        try:
            done = await self._replace(job.account_id, replacement, progress)
        except Conflict as error:  # no room for more tags
            raise PermanentFailure(error.detail) from None
        return {"contacts": done}

    async def _replace(
        self, account_id: str, replacement: TagReplacementJob, progress: Progress | None = None
    ) -> int:
        done = after = 0
        while ids := await self.tags.replace_batch(account_id, replacement, after):
            done, after = done + len(ids), ids[-1]
            if progress:
                await progress(done, None)
        return done


def _check_tags(body: ListTagsRequest) -> None:
    if set(body.add) & set(body.remove):
        raise BadInput("tagsToRemove", "has a tag that is in tagsToAdd, too")
