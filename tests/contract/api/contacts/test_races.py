"""Concurrent requests about one list or one contact: the results stay consistent."""

import asyncio
import io
import os
from collections import Counter
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from starlette.datastructures import UploadFile

from api.common.errors import Conflict
from api.contacts.contacts.store import ContactStore
from api.contacts.imports import job
from api.contacts.imports.file_store import FileStore
from api.contacts.imports.reader.messages import FileFormat, FileSummary
from api.contacts.imports.uploads import FileOptions, UploadService
from api.contacts.lists.schemas import ChangeData, ListQuery
from api.contacts.tables import contact_tags, imports
from api.contacts.tags import TagReplacementJob
from api.jobs.store import MAX_ATTEMPTS, LeaseLost, jobs
from api.jobs.worker import PermanentFailure, Worker
from api.services import Services
from tests.contract.speech.workers import children
from tests.harness.api.contacts.lists import BASE, a_list, contacts_in, some
from tests.harness.api.databases import statements
from tests.harness.api.rest import Rest
from tests.harness.until import until

FILE = b"Phone\n+4790000000\n"
LOOKED_AT = FileSummary(FileFormat("csv", "utf-8", ","), ["Phone"], [["+4790000000"]], 1)
TIMES = 8


class SlowUploads(UploadService):
    """Takes files that are there only when the import of a list has begun."""

    def __init__(self, parts: Services, list_id: int) -> None:
        lists = parts.lists
        files = FileStore(parts.database, parts.now_ms)
        super().__init__(files, lists.lists.quotas, lists.imports.accounts)
        self._imports = parts.lists.imports
        self._list_id = list_id

    async def store(self, account_id: str, file: UploadFile, _options: FileOptions) -> int:
        await self._imports.start(account_id, self._list_id, "skip")
        return await self._files.store(account_id, "new.csv", LOOKED_AT, file.file)


async def a_mapped_list(rest: Rest, file: bytes = FILE) -> int:
    """Create a list with a file whose columns are mapped."""
    parts = rest.services
    list_id, files = int(await a_list(parts)), FileStore(parts.database, parts.now_ms)
    file_id = await files.store("acme", "contacts.csv", LOOKED_AT, io.BytesIO(file))
    async with parts.database.writing() as connection:
        await files.assign(connection, file_id, list_id)
    await parts.lists.imports.map_columns("acme", list_id, {"Phone": "phoneNumber"})
    return list_id


async def test_a_file_is_imported_once(kept: Rest) -> None:
    """One of several concurrent requests starts the import; the others get a conflict."""
    for _ in range(TIMES):
        list_id = await a_mapped_list(kept)
        requests = (kept.services.lists.imports.start("acme", list_id, "skip") for _ in range(4))
        answers = Counter(map(type, await asyncio.gather(*requests, return_exceptions=True)))
        assert answers == {type(None): 1, Conflict: 3}
        query = sa.select(sa.func.count()).where(imports.c.list_id == list_id)
        async with kept.services.database.reading() as connection:
            assert (await connection.execute(query)).scalar_one() == 1


async def test_a_file_is_not_replaced_during_its_import(kept: Rest) -> None:
    """An import that begins while the new file is uploaded keeps the file that it reads."""
    parts, list_id = kept.services, await a_mapped_list(kept)
    slow = replace(parts.lists.lists, uploads=SlowUploads(parts, list_id))
    with pytest.raises(Conflict):
        await slow.change("acme", list_id, ChangeData(), UploadFile(io.BytesIO(FILE)))
    found = await parts.lists.lists.get("acme", list_id)
    assert (found.status, found.file and found.file.name) == ("PROCESSING", "contacts.csv")


async def test_a_contact_that_is_moved_and_removed_counts_once(kept: Rest) -> None:
    """The counts of the lists are right in any order of the requests."""
    lists = [await a_list(kept.services), await a_list(kept.services, name="Autumn")]
    ids = await contacts_in(kept.services, lists[0], *some(TIMES))
    for index, contact_id in enumerate(ids):
        path, number = f"{BASE}/contactNumber/{contact_id}", some(TIMES)[index]["phone_number"]
        move = {"phoneNumber": number, "contactListId": lists[1]}
        requests: list[Any] = [kept.request("PATCH", path, move) for _ in range(3)]
        requests.append(kept.request("DELETE", path, params={"contactPoolId": lists[0]}))
        await asyncio.gather(*requests)
    for list_id in lists:
        found = (await kept.request("GET", f"{BASE}/get-contact/{list_id}?limit=100")).json()
        assert found["total"] == len(found["data"])


async def test_contacts_that_swap_lists_do_not_deadlock(kept: Rest) -> None:
    """All requests succeed."""
    lists = [await a_list(kept.services), await a_list(kept.services, name="Autumn")]
    requests = []
    for index, list_id in enumerate(lists):
        numbers = some(TIMES, index * TIMES)
        for contact_id, row in zip(
            await contacts_in(kept.services, list_id, *numbers), numbers, strict=True
        ):
            move = {"phoneNumber": row["phone_number"], "contactListId": lists[1 - index]}
            requests.append(kept.request("PATCH", f"{BASE}/contactNumber/{contact_id}", move))
    answers = await asyncio.gather(*requests)
    assert [each.status_code for each in answers] == [200] * 2 * TIMES


async def test_of_concurrent_default_lists_one_is(kept: Rest) -> None:
    """All requests succeed, and exactly one list is the default."""
    lists = [await a_list(kept.services, name=str(number)) for number in range(TIMES)]
    form = {"data": (None, '{"isDefault": true}')}
    paths = [f"{BASE}/updatecontactlist/{each}" for each in lists]
    answers = await asyncio.gather(*(kept.request("PATCH", path, files=form) for path in paths))
    assert [each.status_code for each in answers] == [200] * TIMES
    shown = (await kept.request("GET", f"{BASE}/contactlists?limit=100")).json()["data"]
    assert [each["isDefault"] for each in shown].count(True) == 1


async def test_a_new_import_ends_the_last_job(kept: Rest) -> None:
    """The handler of a job that was cancelled meanwhile fails, and the new import goes on."""
    parts, list_id = kept.services, await a_mapped_list(kept)
    await parts.lists.imports.start("acme", list_id, "skip")
    old = await parts.jobs.claim("slow", [job.KIND])
    assert old is not None
    await parts.jobs.cancel("acme", old.id)
    await parts.lists.imports.start("acme", list_id, "skip")
    with pytest.raises(PermanentFailure):
        await parts.lists.jobs[job.KIND](old, partial(parts.jobs.progress, old))
    assert (await parts.lists.lists.get("acme", list_id)).status == "PROCESSING"


async def test_however_an_import_ends_its_list_is_not_processing(kept: Rest) -> None:
    """It is cancelled, or each of its processes dies: the list has failed, and may change."""
    parts = kept.services
    worker = Worker(parts.jobs, parts.lists.jobs, parts.metrics)
    for end in (_cancel, _lose_its_processes):
        list_id = await a_mapped_list(kept)
        await parts.lists.imports.start("acme", list_id, "skip")
        await end(parts)
        await worker.once()
        shown = await parts.lists.lists.get("acme", list_id)
        assert (shown.status, shown.processing and shown.processing.state) == ("FAILED", "failed")
        page = await parts.lists.lists.page("acme", ListQuery(status="FAILED"))
        assert [each.contact_list_id for each in page.data] == [str(list_id)]
        await parts.lists.imports.start("acme", list_id, "skip")
        assert await worker.once()
        assert (await parts.lists.lists.get("acme", list_id)).status == "COMPLETED"


async def _cancel(parts: Services) -> None:
    page, _ = await parts.jobs.page("acme", job.KIND, 0, 1, 0)
    await parts.jobs.cancel("acme", page[0].id)


async def _lose_its_processes(parts: Services) -> None:
    for _ in range(MAX_ATTEMPTS):
        await parts.jobs.claim("dies", [job.KIND])
        await parts.database.execute(sa.update(jobs).values(due_ms=0))


async def test_an_import_that_loses_its_job_leaves_no_process(kept: Rest) -> None:
    """The process that reads the file ends with it, though much of the file is unread."""
    parts = kept.services
    # As contacts they are 8 MB: more than the buffers between the processes hold, else the reader
    # can end before the first batch is stored.
    rows = b"".join(b"+4790%06d\n" % number for number in range(400_000))
    list_id = await a_mapped_list(kept, b"Phone\n" + rows)
    await parts.lists.imports.start("acme", list_id, "skip")
    claimed = await parts.jobs.claim("slow", [job.KIND])
    assert claimed is not None
    before = children(os.getpid())
    reading = list[int]()

    async def progress(done: int, _total: int | None) -> None:
        reading.extend(set(children(os.getpid())).difference(before))
        if done:
            raise LeaseLost

    with pytest.raises(LeaseLost) as held:
        await parts.lists.jobs[job.KIND](claimed, progress)
    assert len(reading) == 1
    assert children(os.getpid()) == before, held


async def test_a_tag_has_the_list_of_its_contact(kept: Rest) -> None:
    """A contact that moves during a replacement of tags gets none for its old list."""
    parts = kept.services
    lists = [await a_list(parts), await a_list(parts, name="Autumn")]
    (contact_id,) = await contacts_in(parts, lists[0], *some(1))
    replacement, tags = TagReplacementJob(int(lists[0]), None, "vip"), parts.contacts.tags.tags
    async with parts.database.writing() as connection:
        moved = {"list_id": int(lists[1])}
        await ContactStore(parts.database, parts.now_ms).change(connection, int(contact_id), moved)
        with statements() as sent:
            tagging = asyncio.create_task(tags.replace_batch("acme", replacement, 0))
            await until(
                lambda: parts.database.is_sqlite or any("FOR KEY SHARE" in each for each in sent),
                what="the lock of the contact to be asked for",
            )
        assert not tagging.done()
    await tagging
    async with parts.database.reading() as connection:
        assert set((await connection.execute(sa.select(contact_tags.c.list_id))).scalars()) <= {
            moved["list_id"]
        }
