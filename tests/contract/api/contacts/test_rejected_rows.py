"""Downloads of rejected rows: all of them, or none."""

from collections.abc import Sequence
from typing import Any

import pytest
import sqlalchemy as sa

from api.common.errors import Conflict
from api.contacts.imports.reader.messages import BATCH_ROWS
from api.contacts.imports.store import MAX_REJECTED_ROWS, PAGE_ROWS, ImportStore
from api.contacts.tables import imports, rejects
from tests.harness.api.contacts.uploads import (
    BASE,
    PHONES,
    imported,
    mapped,
    processed,
    rejected,
    rejected_file,
    run_job,
    sent,
)
from tests.harness.api.serving import Served

BAD = PAGE_ROWS + 5
FILE = b"Phone\n" + b"nobody\n" * BAD


async def kept_rows(served: Served) -> Sequence[sa.Row[Any]]:
    """Return the rejected rows in the database."""
    return await served.services.database.rows(sa.select(rejects.c.reason, rejects.c.cells))


async def test_a_rejected_row_stops_nothing(served: Served) -> None:
    """Each rejected row is stored with line number and reason, and can be downloaded."""
    file = (
        b"Phone,Mail\n+4790000001,\xc3\xa5@example.com\n12,=1+1\n"
        b'"never closed,x\n+4790000002,nobody\n'
        b"+4790000003,a\0b\n+4790000004,\xff\n,x\n1,2,3\n+4790000005,e@example.com\n"
    )
    list_id, result = await imported(served, file, {"Phone": "phoneNumber", "Mail": "email"})
    assert (result["rows"], result["added"], result["rejected"]) == (9, 2, 7)
    rows = await rejected(served, list_id)
    assert [(int(row[0]), row[1].partition(":")[0]) for row in rows] == [
        (3, "phoneNumber"),
        (4, "broken quoting"),
        (5, "email"),
        (6, "control characters, such as NUL"),
        (7, "letters that are not of the file's encoding"),
        (8, "phoneNumber"),
        (9, "3 cells, but there are 2 columns"),
    ]
    assert rows[0][2:] == ["12", "'=1+1"]
    _, found = await served.request("GET", f"{BASE}/contactlists/{list_id}")
    assert found["processing"]["rejectedRowsPath"] == f"{BASE}/rejected-rows/{list_id}"
    assert found["processing"]["rejectedRowsKept"] == 7
    size = sum(128 + len(f"{row.reason}{row.cells}".encode()) for row in await kept_rows(served))
    assert await served.services.database.scalar(sa.select(imports.c.rejected_bytes)) == size


async def test_the_first_rejected_rows_are_kept(served: Served) -> None:
    """Of a file with more of them, in several batches; the count has all."""
    rows = BATCH_ROWS + MAX_REJECTED_ROWS
    good = b"".join(b"+4790%06d\n" % number for number in range(BATCH_ROWS - 5))
    list_id, result = await imported(served, b"Phone\n" + good + b"x\n" * (rows - BATCH_ROWS + 5))
    counts = result["rejected"], result["rejectedRowsKept"]
    assert counts == (MAX_REJECTED_ROWS + 5, MAX_REJECTED_ROWS)
    lines = [int(row[0]) for row in await rejected(served, list_id)]
    assert (len(lines), lines[0]) == (MAX_REJECTED_ROWS, BATCH_ROWS - 3)


async def test_a_corrected_file_may_be_rejected_in_part(served: Served) -> None:
    """Its columns of lines and reasons are beside those of the second import."""
    content = b"line,reason,Phone\n2,phoneNumber: no phone number,Ada\n3,,+4790000001\n"
    list_id, _ = await imported(served, content)
    headers = ["line 2", "reason 2", "line", "reason", "Phone"]
    for expected in (headers, ["line 3", "reason 3", *headers]):
        again = await rejected_file(served, list_id)
        assert again.partition(b"\r\n")[0].decode().split(",") == expected
        list_id, result = await imported(served, again)
        assert result["rejected"] == 1


async def test_rejected_rows_of_a_running_import_are_a_conflict(served: Served) -> None:
    """A download during an import gets 409; later it has the rows of the last import."""
    list_id, _ = await imported(served, FILE)
    path = f"{BASE}/rejected-rows/{list_id}"
    assert (await served.request("POST", f"{BASE}/process-file/{list_id}"))[0] == 200
    status, result = await served.request("GET", path)
    assert (status, result["code"]) == (409, "processing")
    assert await run_job(served)
    assert len(await rejected(served, list_id)) == BAD


async def test_a_slow_download_is_complete(served: Served) -> None:
    """The download is complete even if the rows are deleted meanwhile."""
    list_id, _ = await imported(served, FILE)
    content = await served.services.lists.lists.rejected_rows("acme", int(list_id))
    await mapped(served, list_id, PHONES)
    await processed(served, list_id)
    text = b"".join([chunk async for chunk in content])
    assert len(text.splitlines()) == 1 + BAD


@pytest.mark.parametrize("change", ["process", "replace"])
async def test_rows_deleted_during_the_copy_are_a_conflict(served: Served, change: str) -> None:
    """The copy fails if the file is imported again or replaced."""
    list_id, _ = await imported(served, FILE)
    imports = ImportStore(served.services.database, served.services.now_ms)
    async with served.services.database.reading() as connection:
        found = (await imports.get_several(connection, [int(list_id)]))[int(list_id)]
    pages = imports.rejected_rows(found.job_id)
    assert len(await anext(pages)) == PAGE_ROWS
    if change == "process":
        assert (await served.request("POST", f"{BASE}/process-file/{list_id}"))[0] == 200
    else:
        path = f"/updatecontactlist/{list_id}"
        assert (await sent(served, FILE, path=path, method="PATCH"))[0] == 200
    with pytest.raises(Conflict):
        await anext(pages)
