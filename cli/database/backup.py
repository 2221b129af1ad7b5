"""`switchroom backup` and `switchroom restore`."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import IO, Annotated, Any

from cyclopts import Parameter

from api.backup.records import Header, InvalidBackup, Record, SettingsFile
from api.backup.sealing import read_header, read_records
from api.backup.service import (
    BackupSource,
    Contents,
    read_contents,
    restore_backup,
    write_backup,
)
from api.backup.settings_files import FILE_MODE, collect_settings, find_passphrase, write_settings
from api.common.clock import now_ms
from api.common.errors import ApiError
from api.common.timestamps import format_ms
from api.config import DatabaseSettings
from api.db.database import Database, metadata
from cli.database.runtime import fail, load_settings, record_command
from cli.output import OutputFlag, shown, write_shown

TOKEN_SECRET = b"TOKEN_SECRET"
PassphraseFile = Annotated[
    Path | None,
    Parameter(
        help="File with the passphrase; default: SWITCHROOM_BACKUP_PASSPHRASE, or it is typed."
    ),
]


def backup(
    file: Annotated[Path, Parameter(help="File to create, such as 2026-11-26.backup.")],
    *,
    passphrase_file: PassphraseFile = None,
    settings: Annotated[
        tuple[Path, ...],
        Parameter(help="More files to add, such as /etc/switchroom/api.env. Repeatable."),
    ] = (),
    output: OutputFlag = "table",
) -> None:
    """Write the database and the settings to a file that is sealed with a passphrase.

    It has all tables as they are at one moment, while the REST layer runs: accounts, keys (as
    hashes), documents, call records, contacts, the audit trail. Settings are the variables
    SWITCHROOM_…, `.env`, the TOML file of SWITCHROOM_CONFIG, and --settings. Recordings stay in
    their archive: the backup has their addresses.

    Example: switchroom backup 2026-11-26.backup --settings /etc/switchroom/api.env
    """
    with _reported_errors():
        passphrase = find_passphrase(passphrase_file, os.environ, is_new=True)
        found = collect_settings(os.environ, Path.cwd(), settings)
        url = load_settings(DatabaseSettings).database_url
        with _new_file(file) as opened:
            contents = asyncio.run(_back_up(url, opened, passphrase, found))
        size = file.stat().st_size
    value = {**_value(file, contents), "bytes": size}
    write_shown(shown(value, f"{file}: {_described(contents)}, {size:,} bytes"), output)
    if not any(TOKEN_SECRET in each.content.upper() for each in contents.settings):
        sys.stderr.write(
            "switchroom: SWITCHROOM_TOKEN_SECRET is in none of the settings; without it, sealed"
            " secrets of the database cannot be read: add the file that has it with --settings\n"
        )


def restore(
    file: Annotated[Path, Parameter(help="File that `switchroom backup` wrote.")],
    *,
    passphrase_file: PassphraseFile = None,
    check: Annotated[
        bool, Parameter(help="Only read the file to its end, and say what it has.", negative="")
    ] = False,
    settings_to: Annotated[
        Path | None, Parameter(help="Only write its settings, below a folder that is empty.")
    ] = None,
    output: OutputFlag = "table",
) -> None:
    """Restore a backup to the empty database of SWITCHROOM_DATABASE_URL: all of it, or nothing.

    The database may be another than the one of the backup: SQLite, or PostgreSQL. Backups of
    earlier versions are migrated.

    Example: switchroom restore 2026-11-26.backup --check
    """
    with _reported_errors(), file.open("rb") as opened:
        passphrase = find_passphrase(passphrase_file, os.environ, is_new=False)
        header = read_header(opened)
        records = read_records(opened, header, passphrase)
        if check or settings_to:
            contents = read_contents(records)
        else:
            url = load_settings(DatabaseSettings).database_url
            contents = asyncio.run(_restore(url, header, records))
        written = write_settings(contents.settings, settings_to) if settings_to else []
    about = f"{header.created_time}, version {header.version}, {header.database}"
    paths = [str(path) for path in written]
    value = {**_value(file, contents), **_origin(header), "written": paths}
    write_shown(shown(value, f"{file} of {about}: {_described(contents)}", *paths), output)


async def _back_up(
    url: str, file: IO[bytes], passphrase: str, settings: tuple[SettingsFile, ...]
) -> Contents:
    import api.app  # noqa: F401, PLC0415 - with all tables; `--help` needs none

    database = Database(url)
    try:
        if database.is_new:
            raise InvalidBackup(f"there is no database {url} (SWITCHROOM_DATABASE_URL)")
        tables = tuple(metadata.sorted_tables)
        source = BackupSource(database, tables, settings, version("switchroom"))
        contents = await write_backup(source, file, passphrase, format_ms(now_ms()))
        await record_command(database, "backup", None, "done")
    finally:
        await database.close()
    return contents


async def _restore(url: str, header: Header, records: Iterator[Record]) -> Contents:
    import api.app  # noqa: F401, PLC0415 - with all tables; `--check` needs none

    database = Database(url)
    try:
        contents = await restore_backup(database, header, records)
        await record_command(database, "restore", None, "done")
    finally:
        await database.close()
    return contents


@contextmanager
def _reported_errors() -> Iterator[None]:
    """Exit with status 2 if nothing was done."""
    try:
        yield
    except InvalidBackup as error:
        fail(str(error))
    except ApiError as error:
        fail(f"{error}: {error.__cause__}")
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")


@contextmanager
def _new_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that has its name only when it is complete, and on the disk."""
    if path.exists():
        raise InvalidBackup(f"{path} exists")
    part = path.with_name(f"{path.name}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)


def _described(contents: Contents) -> str:
    rows = sum(contents.counts.values())
    accounts, calls = (contents.counts.get(name, 0) for name in ("accounts", "cdrs"))
    files = len(contents.settings)
    return f"{accounts:,} accounts, {calls:,} calls, {rows:,} rows, {files} files of settings"


def _origin(header: Header) -> dict[str, str]:
    return {
        "createdTime": header.created_time,
        "version": header.version,
        "database": header.database,
    }


def _value(file: Path, contents: Contents) -> dict[str, Any]:
    return {
        "file": str(file),
        "rows": contents.counts,
        "settings": [each.path for each in contents.settings],
    }
