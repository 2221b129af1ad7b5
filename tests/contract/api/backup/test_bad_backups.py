"""Files that are no backup of this version, are damaged, or meet a database that is not empty."""

import asyncio
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
import sqlalchemy as sa

from api.accounts.store import Account, AccountStore
from api.backup.records import (
    End,
    InvalidBackup,
    Record,
    Rows,
    TableColumn,
    TableStart,
)
from api.backup.sealing import MAGIC, SealedWriter, read_header, read_records
from api.common.clock import now_ms
from api.db.database import Database
from api.db.migrate import migrate
from tests.contract.api.backup.rows import (
    COST,
    PASSPHRASE,
    backed_up,
    fill,
    restored,
    rows_of,
    tables_of,
)
from tests.harness.api.databases import migrated_database, opened, sqlite_url

COLUMNS = {
    "id": ("text", "acme"),
    "name": ("text", "Acme"),
    "is_active": ("boolean", True),
    "created_ms": ("integer", 7),
    "denied": ("json", "[]"),
    "number_types": ("json", "[]"),
    "trunks": ("json", "[]"),
}


def sealed(*records: Record, **changed: str) -> bytes:
    """Return a backup with these records."""
    described = {"version": "0.1.0", "migration": "0001", "database": "sqlite"}
    file = io.BytesIO()
    described |= {"created_time": ""} | changed
    writer = SealedWriter(file, PASSPHRASE, cost=COST, **described)
    for each in records:
        writer.write(each)
    return file.getvalue()


def account(**changed: object) -> tuple[TableStart, Rows]:
    """Return the table of accounts, with a row."""
    columns = tuple(TableColumn(name, kind) for name, (kind, _value) in COLUMNS.items())  # type: ignore[arg-type]  # kinds
    row = {name: value for name, (_kind, value) in COLUMNS.items()} | changed
    encoded = msgspec.Raw(msgspec.msgpack.encode(tuple(row.values())))
    return TableStart("accounts", columns), Rows((encoded,))


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Provide a good backup."""

    async def made() -> bytes:
        async with migrated_database(sqlite_url(tmp_path_factory.mktemp("good"))) as database:
            await fill(database)
            return await backed_up(database)

    return asyncio.run(made())


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Provide the URL of an empty database, for tests that do not depend on its kind."""
    return sqlite_url(tmp_path)


async def reason(empty_url: str, content: bytes, passphrase: str = PASSPHRASE) -> str:
    """Return why a backup is rejected; the database is as empty as before."""
    async with opened(empty_url) as database:
        with pytest.raises(InvalidBackup) as raised:
            await restored(database, content, passphrase)
        assert await tables_of(database) == []
    return str(raised.value)


async def test_a_wrong_passphrase(url: str, content: bytes) -> None:
    """The error says that it is the passphrase, not the file."""
    assert await reason(url, content, "another passphrase") == "the passphrase is wrong"


@pytest.mark.parametrize("kept", [0.0, 0.05, 0.5, 0.999])
async def test_a_truncated_file(empty_url: str, content: bytes, kept: float) -> None:
    """Wherever it ends, nothing is restored."""
    said = await reason(empty_url, content[: int(len(content) * kept)])
    assert said.startswith(("the file is truncated", "the file is no backup")[kept == 0.0])


async def test_every_end_is_noticed(content: bytes) -> None:
    """A file without its last chunk, cut between two chunks, is no shorter backup."""
    whole = _chunks(content)
    cut = whole[0] + b"".join(whole[1:-1])
    with pytest.raises(InvalidBackup, match="truncated"):
        list(_records(cut))


@pytest.mark.parametrize(
    "change",
    [
        lambda whole: [*whole[:-1], whole[-1], b"more"],
        lambda whole: [whole[0], whole[2], whole[1], *whole[3:]],
        lambda whole: [whole[0], *whole[2:]],
        lambda whole: [whole[0].replace(b"0.1.0", b"0.2.0"), *whole[1:]],
        lambda whole: [whole[0].replace(b'"cost":10', b'"cost":21'), *whole[1:]],
        lambda whole: [*whole[:-2], whole[-2][:-1] + bytes([whole[-2][-1] ^ 1]), whole[-1]],
        lambda whole: [whole[0], b"\xff\xff\xff\xff" + whole[1][4:], *whole[2:]],
        lambda whole: [whole[0][:-2] + b"\n", *whole[1:]],
    ],
    ids=["added", "moved", "removed", "header", "cost", "bit", "length", "no JSON"],
)
async def test_a_changed_file(
    url: str, content: bytes, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    """A change anywhere is noticed, and nothing is restored."""
    said = await reason(url, b"".join(change(_chunks(content))))
    assert said == "the file is damaged: it was changed, or a part is missing"


async def test_other_files(url: str) -> None:
    """A file that is no backup, or has a later format."""
    assert await reason(url, b"PK\x03\x04") == "the file is no backup of Switchroom"
    later = MAGIC + b'{"format": 2}\n'
    assert "format 2, of a later version; this one reads 1" in await reason(url, later)


async def test_a_backup_of_a_later_version(url: str) -> None:
    """Its version is named."""
    said = await reason(url, sealed(End({}), version="9.1", migration="9999"))
    assert said.startswith("the backup is of another version, 9.1 (migration 9999)")


@pytest.mark.parametrize("counts", [{}, {"accounts": 2}])
async def test_counts_that_do_not_fit(empty_url: str, counts: dict[str, int]) -> None:
    """A backup that lists other rows than it has is not restored."""
    said = await reason(empty_url, sealed(*account(), End(counts)))
    assert said == "the file does not have the rows that it lists"


async def test_a_row_that_the_database_refuses(empty_url: str) -> None:
    """Nothing of the backup is restored; the error names the table, and no value."""
    said = await reason(empty_url, sealed(*account(name=None), End({"accounts": 1})))
    assert said == "accounts: the database refuses a row"


async def test_a_database_that_is_not_empty(database: Database, content: bytes) -> None:
    """It is left as it is."""
    await AccountStore(database, now_ms).add(Account("here", "Here"))
    before = await rows_of(database)
    with pytest.raises(InvalidBackup, match="the database is not empty: accounts has rows"):
        await restored(database, content)
    assert await rows_of(database) == before


async def test_a_database_of_another_version(database: Database) -> None:
    """An empty database that has the tables of another version is none for the backup."""
    async with database.writing() as connection:
        await connection.execute(sa.text("UPDATE alembic_version SET version_num = '0002'"))
    with pytest.raises(InvalidBackup, match="has migration 0002, and the backup 0001: an empty"):
        await restored(database, sealed(*account(), End({"accounts": 1})))


async def test_a_database_of_another_program(empty_url: str) -> None:
    """Its tables are left alone."""
    async with opened(empty_url) as database:
        async with database.writing() as connection:
            await connection.execute(sa.text("CREATE TABLE other (id INTEGER)"))
        with pytest.raises(InvalidBackup, match="the database belongs to another program"):
            await restored(database, sealed(End({})))


async def test_what_cannot_be_backed_up(empty_url: str) -> None:
    """A database without tables, or with those of another version, and a short passphrase."""
    async with opened(empty_url) as database:
        with pytest.raises(InvalidBackup, match="the database is empty"):
            await backed_up(database)
        await migrate(database)
        with pytest.raises(InvalidBackup, match="the passphrase needs at least 12 characters"):
            SealedWriter(io.BytesIO(), "too short")
        async with database.writing() as connection:
            await connection.execute(sa.text("UPDATE alembic_version SET version_num = '0023'"))
        with pytest.raises(InvalidBackup, match="the database has migration 0023, and this"):
            await backed_up(database)


def _chunks(content: bytes) -> list[bytes]:
    """Return the header and the sealed chunks of a backup."""
    end = content.index(b"\n", len(MAGIC)) + 1
    found = [content[:end]]
    while end < len(content):
        length = 4 + int.from_bytes(content[end : end + 4], "big")
        found.append(content[end : end + length])
        end += length
    return found


def _records(content: bytes) -> Iterator[Record]:
    file = io.BytesIO(content)
    return read_records(file, read_header(file), PASSPHRASE)
