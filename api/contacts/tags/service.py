"""Changes the tags of lists and of their contacts."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct

from api.common.errors import Conflict
from api.contacts.ids import parse_id
from api.contacts.list_store import ListStore
from api.contacts.tags.schemas import ListTagsRequest, ManageTagsRequest
from api.contacts.tags.store import TagReplacementJob, TagStore
from api.db.database import Database
from api.jobs.store import Job, JobStore
from api.jobs.worker import PermanentFailure, Progress
from base.limit import Limit
from wire.decoding.errors import BadInput

KIND = "contact-tags"
MAX_SYNCHRONOUS = 1_000  # contacts of a list; more are changed in the background
MAX_TAGS: Annotated[int, Limit("request", "400 `invalid`", "Tags of a contact list.")] = 100


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
