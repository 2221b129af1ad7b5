"""Files of contacts of every common kind."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from api.jobs.store import jobs
from tests.harness.api.contacts.sheets import a_sheet
from tests.harness.api.contacts.uploads import contacts, imported, rejected, rejected_upload, sent
from tests.harness.api.databases import sqlite_url
from tests.harness.api.serving import Served, serve_rest

NAMES = {"Phone": "phoneNumber", "Name": "fName"}


@pytest.fixture
async def rest(tmp_path: Path) -> AsyncIterator[Served]:
    """Serve with SQLite; file formats do not depend on the database."""
    async with serve_rest(sqlite_url(tmp_path)) as found:
        yield found


def table(*names: str, delimiter: str = ",") -> str:
    """Return a table of contacts with these names."""
    rows = [f"+47900000{n:02}{delimiter}{name}" for n, name in enumerate(names)]
    return "\n".join([f"Phone{delimiter}Name", *rows, ""])


async def names_of(rest: Served, content: bytes, **data: Any) -> list[str]:
    """Import a file; return the names of its contacts."""
    list_id, result = await imported(rest, content, NAMES, **data)
    assert not result["rejected"], await rejected(rest, list_id)
    return [each["fName"] for each in await contacts(rest, list_id)]


async def test_a_file_may_be_of_another_encoding(rest: Served) -> None:
    """It is detected, or named by the upload; so is what separates cells."""
    names = ["Åse", "Дмитрий"]
    assert await names_of(rest, table(*names, delimiter=";").encode("utf-16")) == names
    content = table("Łukasz", delimiter="|").encode("cp1250")
    assert await names_of(rest, content, encoding="windows-1250", delimiter="|") == ["Łukasz"]
    assert "no text encoding" in await rejected_upload(rest, content, encoding="klingon")


async def test_the_region_of_an_account_tells_encodings_apart(rest: Served) -> None:
    """A few words of its language are read in the code page of its country."""
    content = table("Győző", "Erdős").encode("cp1250")
    account = await rest.services.accounts.get("acme")
    await rest.services.accounts.change(replace(account, region="HU"))
    assert await names_of(rest, content) == ["Győző", "Erdős"]


async def test_a_title_above_the_header(rest: Served) -> None:
    """The upload says in which row the header is; the preview shows it."""
    content = f"Our customers\n\n{table('Nina', 'Ola', delimiter=';')}".encode()
    assert await names_of(rest, content, headerRow=3) == ["Nina", "Ola"]
    assert "empty below row 7" in await rejected_upload(rest, content, headerRow=7)


async def test_a_cell_may_have_lines(rest: Served) -> None:
    """The lines of a cell are joined; doubled quotes become one."""
    content = b'Phone,Name\n+4790000001,"Nina\n""the best""\nBerg"\n\n  \n+4790000002,Ola'
    assert await names_of(rest, content) == ['Nina "the best" Berg', "Ola"]


async def test_rows_of_ten_megabytes_are_rejected(rest: Served) -> None:
    """Only these rows are rejected, with their line numbers."""
    long = b"+4790000001," + b"x" * 10_000_000
    quoted = b'+4790000002,"' + b"x\n" * 5_000_000 + b'"'
    content = b"Phone,Name\n" + long + b"\n+4790000003,Ola\n" + quoted[:200_000] + b"\n"
    list_id, result = await imported(rest, content, NAMES)
    lines = [(row[0], row[1]) for row in await rejected(rest, list_id)]
    assert lines[:2] == [("2", "longer than 65536 letters"), ("4", "broken quoting")]
    assert result["added"] == 1


async def test_a_job_has_no_headers(rest: Served) -> None:
    """It is kept for a month, however often the file is processed."""
    header = ",".join(["Phone", "Name", *(f"{number:0128}" for number in range(400))])
    _, result = await imported(rest, f"{header}\n+4790000001,Ola\n".encode(), NAMES)
    assert result["added"] == 1
    assert len(str(await rest.services.database.scalar(sa.select(jobs.c.payload)))) < 200


@pytest.mark.parametrize("kind", ["xlsx", "xls", "ods"])
async def test_spreadsheets_are_read(rest: Served, kind: str) -> None:
    """Numbers as text or not, dates, hidden sheets and empty rows are handled."""
    account = await rest.services.accounts.get("acme")
    await rest.services.accounts.change(replace(account, region="NO"))
    mappings = {**NAMES, "Born": "born"}
    list_id, result = await imported(rest, a_sheet(kind), mappings, assignedFields=["born"])
    found = [(each["phoneNumber"], each["fName"]) for each in await contacts(rest, list_id)]
    assert found == [("+4790000001", "Åse"), ("+4790000002", "Ola")]
    assert (await contacts(rest, list_id))[0]["fields"] == {"born": "1990-05-17"}
    assert [row[0] for row in await rejected(rest, list_id)] == ["5"]
    assert result["rows"] == 3


async def test_a_file_keeps_its_name(rest: Served) -> None:
    """The name loses only folders and unprintable characters."""
    file = b"Phone\n+4790000001\n"
    _, found = await sent(rest, file, file_name="C:\\tmp\\..\\my \u202econtacts.csv")
    assert found["file"]["name"] == "my contacts.csv"
