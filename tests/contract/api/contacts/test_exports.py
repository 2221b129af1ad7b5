"""Downloads over HTTP: requested, written in the background, downloaded; without formulas."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from api.common.errors import Conflict
from api.contacts.contacts.contact_events import events
from api.contacts.exports.job import FEW_ROWS, PART_ROWS
from api.contacts.exports.store import downloads
from api.contacts.exports.writers import Workbook
from api.contacts.quotas import ContactLimits, ContactQuotas
from api.contacts.tables import contact_tags, contacts, lists
from api.jobs.artifacts import ArtifactDeleted, ArtifactProgress, ArtifactStore, job_parts
from api.jobs.store import Job, LeaseLost
from api.jobs.worker import Worker
from tests.harness.api.contacts.lists import BASE, a_list, contacts_in, some
from tests.harness.api.rest import Rest
from tests.harness.customers.workbook import sheets_of

REQUESTS = f"{BASE}/download-requests"


async def start(rest: Rest, list_id: str, kind: str) -> Any:
    """Start a download and return it."""
    answer = await rest.request("POST", REQUESTS, {"contactListId": list_id, "format": kind})
    assert answer.status_code == 201, answer.text
    assert answer.json()["state"] == "waiting"
    return answer.json()


async def exported(rest: Rest, list_id: str, kind: str) -> bytes:
    """Start a download, run its job, and return the file."""
    path = f"{REQUESTS}/{(await start(rest, list_id, kind))['id']}"
    assert (await rest.rejected("GET", f"{path}/download"))[:2] == (409, "download_not_done")
    await Worker(rest.services.jobs, rest.services.contacts.jobs, rest.services.metrics).once()
    done = (await rest.request("GET", path)).json()
    assert (done["state"], done["rows"]) == ("done", done["total"]), done
    answer = await rest.request("GET", done["downloadPath"])
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].endswith(f'.{kind}"')
    return answer.content


async def test_csv(kept: Rest) -> None:
    """The file has all contacts of a list, with tags and assigned fields; formulas are escaped."""
    list_id = await a_list(kept.services, assigned_fields=["city"])
    evil = {"phone_number": "+4790999999", "f_name": "=1+1", "l_name": "@x", "email": "a@b.no"}
    await contacts_in(
        kept.services, list_id, {**evil, "fields": '{"city":"-2+3"}'}, tags=("a", "b")
    )
    await contacts_in(kept.services, list_id, *some(PART_ROWS))
    lines = list(csv.DictReader(io.StringIO((await exported(kept, list_id, "csv")).decode())))
    assert len(lines) == PART_ROWS + 1
    first = lines[0]
    assert (first["fName"], first["lName"], first["city"]) == ("'=1+1", "'@x", "'-2+3")
    assert (first["phoneNumber"], first["tags"]) == ("+4790999999", "a b")
    assert [line["phoneNumber"] for line in lines[1:]] == [
        each["phone_number"] for each in some(PART_ROWS)
    ]


async def test_xlsx(kept: Rest) -> None:
    """The file has strings only, which no spreadsheet program evaluates."""
    list_id = await a_list(kept.services)
    evil = {"phone_number": "+4790999999", "f_name": "=1+1", "l_name": "http://x", "email": None}
    await contacts_in(kept.services, list_id, evil, *some(20))
    (sheet,) = sheets_of(await exported(kept, list_id, "xlsx"))
    assert sheet[0][:4] == ["contactId", "phoneNumber", "fName", "lName"]
    assert sheet[1][1:4] == ["+4790999999", "=1+1", "http://x"]
    assert [row[1] for row in sheet[2:]] == [each["phone_number"] for each in some(20)]


async def test_an_empty_list_is_a_header(kept: Rest) -> None:
    """The file has only a header, in both formats."""
    list_id = await a_list(kept.services)
    assert (await exported(kept, list_id, "csv")).startswith(b"contactId,phoneNumber,")
    assert [len(sheet) for sheet in sheets_of(await exported(kept, list_id, "xlsx"))] == [1]


def test_rows_beyond_a_sheet_are_on_the_next(tmp_path: Path) -> None:
    """Each sheet begins with the header."""
    path = tmp_path / "book.xlsx"
    book = Workbook(path, ["a"], max_rows=3)
    book.add([[str(each)] for each in range(4)])
    book.close()
    assert sheets_of(path.read_bytes()) == [[["a"], ["0"], ["1"]], [["a"], ["2"], ["3"]]]


async def test_another_process_resumes(kept: Rest) -> None:
    """After a process dies, the file has each part and each contact once."""

    class Died(BaseException):
        """Raised as if the process were killed."""

    list_id = await a_list(kept.services)
    await contacts_in(kept.services, list_id, *some(FEW_ROWS + 5))
    download = await start(kept, list_id, "csv")
    run = kept.services.contacts.jobs["contact-download"]
    job = await kept.services.jobs.claim("one", ["contact-download"])
    assert isinstance(job, Job)

    async def dies(done: int, _total: int | None) -> None:
        if done:
            raise Died

    with pytest.raises(Died):
        await run(job, dies)
    done: list[int] = []

    async def tells(rows: int, _total: int | None) -> None:
        done.append(rows)

    result = await run(job, tells)
    assert (result, done) == ({"rows": FEW_ROWS + 5}, [FEW_ROWS, FEW_ROWS + 5])
    await kept.services.jobs.finish(job, result)
    text = (await kept.request("GET", f"{REQUESTS}/{download['id']}/download")).text
    assert len(text.splitlines()) == FEW_ROWS + 6


async def test_downloads_are_listed(kept: Rest) -> None:
    """Downloads are listed newest first; at most ten are unfinished."""
    list_id = await a_list(kept.services)
    ids = [(await start(kept, list_id, "csv"))["id"] for _ in range(10)]
    body = {"contactListId": list_id}
    assert (await kept.rejected("POST", REQUESTS, body))[:2] == (429, "too_many")
    page = (await kept.request("GET", REQUESTS, params={"limit": "3"})).json()
    assert (page["total"], len(page["data"])) == (10, 3)
    assert {each["id"] for each in page["data"]} <= set(ids)
    assert (await kept.rejected("GET", REQUESTS, params={"limit": "0"}))[0] == 400


async def test_a_deleted_list_leaves_no_files(kept: Rest) -> None:
    """Its downloads and their jobs are deleted at once, everything else later."""
    list_id = await a_list(kept.services)
    await contacts_in(kept.services, list_id, *some(3), tags=("a",))
    new = {"phoneNumber": "+4790111111", "contactListId": list_id, "addToRunningCampaign": True}
    await kept.request("POST", f"{BASE}/contactNumber", new)
    await exported(kept, list_id, "csv")
    job_id = (await kept.request("GET", REQUESTS)).json()["data"][0]["id"]
    assert (await kept.request("DELETE", f"{BASE}/delete-file/{list_id}")).status_code == 200
    assert (await kept.request("GET", REQUESTS)).json()["total"] == 0
    parts = ArtifactStore(kept.services.database, kept.services.now_ms)
    with pytest.raises(ArtifactDeleted):
        await anext(parts.bodies(job_id))
    assert await kept.services.jobs.get("acme", "contact-download", job_id) is None
    await Worker(kept.services.jobs, kept.services.lists.jobs, kept.services.metrics).once()
    async with kept.services.database.reading() as connection:
        for table in (lists, contacts, contact_tags, events, downloads, job_parts):
            assert (await connection.execute(table.select())).all() == [], table.name


async def test_what_a_cancelled_download_has_written_does_not_count(kept: Rest) -> None:
    """Neither for the quota, nor on the disk after the next download."""
    services, list_id = kept.services, await a_list(kept.services)
    download = await start(kept, list_id, "csv")
    parts = ArtifactStore(services.database, services.now_ms)
    await parts.add(download["id"], ArtifactProgress(), 2, (1, 2), b"four")
    quotas = ContactQuotas(services.database, ContactLimits(bytes=4))
    with pytest.raises(Conflict):
        await quotas.check_bytes("acme", 1)
    await services.jobs.cancel("acme", download["id"])
    await quotas.check_bytes("acme", 1)
    await parts.delete_expired()
    assert (await parts.progress(download["id"])).parts == 0


async def test_a_deletion_that_failed_goes_on(kept: Rest) -> None:
    """What a customer deleted is not left stored."""
    services, list_id = kept.services, await a_list(kept.services)
    await services.lists.lists.delete("acme", int(list_id))
    job = await services.jobs.claim("fails", ["contacts-erase"])
    assert job is not None
    await services.jobs.fail(job, "internal", for_good=True)
    worker = Worker(services.jobs, services.lists.jobs, services.metrics)
    assert not await worker.once()
    await services.lists.deleter.resume_failed()
    assert await worker.once()
    assert await services.database.rows(lists.select()) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({}, "contactListId"),
        ({"contactListId": "999"}, "contactListId"),
        ({"contactListId": "1", "format": "pdf"}, "format"),
        ({"contactListId": "1", "columns": []}, "columns"),
    ],
)
async def test_bad_input_names_its_field(rest: Rest, body: dict[str, Any], fault: str) -> None:
    """Each error has its path."""
    result = await rest.rejected("POST", REQUESTS, body or b"{}")
    assert (result[0], result[2]) == (400, [fault])


async def test_a_truncated_file_is_an_error(kept: Rest) -> None:
    """A download of a list that is deleted meanwhile fails instead of ending early."""
    list_id = await a_list(kept.services)
    await contacts_in(kept.services, list_id, *some(PART_ROWS + 5))
    download = await start(kept, list_id, "csv")
    await Worker(kept.services.jobs, kept.services.contacts.jobs, kept.services.metrics).once()
    _, content = await kept.services.contacts.downloads.content("acme", download["id"])
    assert await anext(content)
    assert await anext(content)
    await kept.services.lists.lists.delete("acme", int(list_id))
    with pytest.raises(ArtifactDeleted):
        await anext(content)


async def test_of_two_writers_one_continues(kept: Rest) -> None:
    """Parts of two writers may end at different rows, so the second writer stops."""
    download = await start(kept, await a_list(kept.services), "csv")
    parts = ArtifactStore(kept.services.database, kept.services.now_ms)
    await parts.add(download["id"], ArtifactProgress(), 2, (1, 2), b"two")
    with pytest.raises(LeaseLost):
        await parts.add(download["id"], ArtifactProgress(), 3, (1, 3), b"three")
