"""What a backup file says: a header that anyone may read, and sealed records after it.

A value of a table is stored by what it is, not by how a database stores it: a backup of SQLite can
be restored to PostgreSQL, and the other way round.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

FORMAT = 1
# Of a guess of the passphrase: the binary logarithm of scrypt's N; 20 takes a gigabyte.
Cost = Annotated[int, Meta(ge=10, le=20)]
Kind = Literal["json", "boolean", "integer", "float", "text", "bytes"]


class InvalidBackup(Exception):
    """The backup cannot be written or restored; nothing is half done."""


class Header(Struct, frozen=True, rename="camel"):
    """The first line of the file; `verifier` says whether a passphrase is the right one."""

    format: int
    version: str
    migration: str
    database: str
    created_time: str
    salt: bytes
    cost: Cost
    verifier: bytes


class TableColumn(Struct, frozen=True, array_like=True):
    name: str
    kind: Kind


class TableStart(Struct, frozen=True, array_like=True, tag="table"):
    """A table, whose rows follow; those that refer to others come later than these.

    The numbers of a column up to `last_number` are used, also by rows that are deleted.
    """

    name: str
    columns: tuple[TableColumn, ...]
    numbered_column: str | None = None
    last_number: int = 0


class Rows(Struct, frozen=True, array_like=True, tag="rows"):
    """Rows of the table that started last, each an array of values; JSON is text."""

    rows: tuple[msgspec.Raw, ...]


class SettingsFile(Struct, frozen=True, array_like=True, tag="settings"):
    """A file of settings, by its absolute path."""

    path: str
    content: bytes


class End(Struct, frozen=True, array_like=True, tag="end"):
    """The last record: how many rows each table has."""

    counts: dict[str, int]


Record = TableStart | Rows | SettingsFile | End
