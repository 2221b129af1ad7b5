"""Uploads that are rejected, with the reason: invalid files and invalid forms."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from api.contacts.imports.reader.sheets import MAX_RATIO
from api.contacts.imports.uploads import MAX_INSPECTIONS_OF_ACCOUNT
from tests.harness.api.contacts.sheets import bomb, far_apart, zipped
from tests.harness.api.contacts.uploads import BASE, rejected_upload, sent
from tests.harness.api.databases import sqlite_url
from tests.harness.api.serving import Served, serve_rest


@pytest.fixture
async def rest(tmp_path: Path) -> AsyncIterator[Served]:
    """Serve with SQLite; file formats do not depend on the database."""
    async with serve_rest(sqlite_url(tmp_path)) as found:
        yield found


async def test_a_bad_file_is_rejected(rest: Served) -> None:
    """The upload fails with the reason, and creates no list."""
    assert "two columns are called 'Phone'" in await rejected_upload(rest, b"Phone,Phone\n1,2\n")
    hollow = zipped(**{"xl/workbook.xml": b"<workbook/>"})
    assert "a broken spreadsheet" in await rejected_upload(rest, hollow)
    assert (await rest.request("GET", f"{BASE}/contactlists"))[1]["total"] == 0


async def test_a_zip_bomb_is_rejected(rest: Served) -> None:
    """It is rejected before a spreadsheet library opens it, as soon as it exceeds its size."""
    content = bomb(1)
    reason = await rejected_upload(rest, content)
    assert f"a zip bomb: it inflates to more than {MAX_RATIO * len(content)} bytes" in reason


async def test_files_that_wait(rest: Served) -> None:
    """So many of an account are inspected or wait; another account's is, meanwhile."""
    many = MAX_INSPECTIONS_OF_ACCOUNT + 4
    file = b"Phone,Name\n+4790000001,Ada\n"
    sending = [sent(rest, file, name=str(number)) for number in range(many)]
    other = sent(rest, file, who="other")
    *answers, others = await asyncio.gather(*sending, other)
    counts = Counter((status, answer.get("code")) for status, answer in answers)
    assert others[0] == 201, others
    assert counts[429, "too_many_uploads"] > 0, counts
    assert counts[201, None] >= MAX_INSPECTIONS_OF_ACCOUNT, counts


async def test_a_sheet_of_two_far_cells_is_rejected(rest: Served) -> None:
    """It exceeds the memory limit of the reader process; the error says what to look for."""
    for kind in ("xlsx", "ods"):
        assert "a cell is far from the others" in await rejected_upload(rest, far_apart(kind))


async def test_forms_are_validated(rest: Served) -> None:
    """Errors name missing and invalid fields."""
    file = b"Phone\n+4790000001\n"
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"name": ""}, "data.name"),
        ({"name": " "}, "data.name"),
        ({"name": "a\nb"}, "data.name"),
        ({"name": "a\x00b"}, "data.name"),
        ({"name": "\x1b"}, "data.name"),
        ({"isDefault": "yes"}, "data.isDefault"),
        ({"assignedFields": [7]}, "data.assignedFields[0]"),
        ({"size": 1}, "data.size"),
        ({"delimiter": "x"}, "data.delimiter"),
    )
    for data, path in cases:
        status, answer = await sent(rest, file, **data)
        assert (status, answer["errors"][0]["path"]) == (400, path), answer
    status, answer = await sent(rest, None)
    assert (status, answer["errors"][0]["path"]) == (400, "file")
    assert await rest.faults("POST", f"{BASE}/upload", {"name": "x"}) == {"data"}
    assert (await sent(rest, file, who=""))[0] == 401


async def test_two_gigabytes_are_rejected_before_they_are_sent(rest: Served) -> None:
    """The Content-Length alone causes the rejection."""
    headers = {**rest.headers("acme"), "Content-Length": str(2 << 30)}
    async with rest.http.post(f"{rest.url}{BASE}/upload", headers=headers, data=b"x") as reply:
        assert reply.status == 413
