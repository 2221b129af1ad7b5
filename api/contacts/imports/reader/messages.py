"""The messages between the reader process and its client."""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Struct

from base.limit import Limit

Kind = Literal["csv", "xlsx", "xls", "ods"]
Action = Literal["skip", "update"]
Fields = dict[str, str]  # field by column header

MAX_COLUMNS = 500
MAX_ROW_CHARS = 65_536
MAX_SAMPLE_ROWS = 10
MAX_SAMPLE_CHARS: Annotated[
    int, Limit("request", "cells end earlier", "Letters of a file's first rows that are shown.")
] = 65_536
OUT_OF_MEMORY = (
    "it takes more memory than a file of contacts may: too many rows or columns,"
    " perhaps because a cell is far from the others"
)
# A batch is one transaction, during which no other account writes to SQLite; and it is decoded in
# one step, during which no other request is served.
BATCH_ROWS = 1_000
BATCH_CHARS = 1_048_576


class UnreadableFile(ValueError):
    """The file can't be imported; the message is shown to the customer."""


class FileRow(Struct, frozen=True):
    """A row of a file: its cells, or why it can't be parsed.

    `kinds` says which cells of a spreadsheet are no texts and no whole numbers, by position.
    """

    line: int
    cells: list[str]
    error: str = ""
    kinds: Mapping[int, str] = {}


class FileFormat(Struct, frozen=True):
    """The format of a file, and the row of its header; only CSV has an encoding and a delimiter.

    In row 0 there is no header: all rows are contacts.
    """

    kind: Kind
    encoding: str | None = None
    delimiter: str | None = None
    header_row: int = 1


class FileSummary(Struct, frozen=True, tag="summary", array_like=True):
    """The result of an inspection; `rows` is an upper bound."""

    format: FileFormat
    headers: list[str]
    sample: list[list[str]]
    rows: int


class FileHints(Struct, frozen=True):
    """The file to inspect, and the customer's hints, if any."""

    path: str
    encoding: str | None = None
    delimiter: str | None = None
    header_row: int | None = None  # without it, the first row that is not empty
    region: str | None = None  # of the account: it tells encodings apart


class ReadRequest(Struct, frozen=True):
    """How to convert a file's rows to contacts; the first `skip` rows are imported already."""

    path: str
    format: FileFormat
    headers: list[str]
    mappings: Fields
    region: str | None
    action: Action
    skip: int


class RejectedRow(Struct, frozen=True, array_like=True):
    """A row that is not imported."""

    line: int
    reason: str
    cells: str  # as CSV, with formulas escaped


class Batch(Struct, frozen=True, tag="batch", array_like=True):
    """Contacts by column, each number once, and the rejected rows.

    `rows` counts all rows of the file so far; `duplicates` those with the number of another row in
    the batch.
    """

    rows: int
    duplicates: int
    rejects: list[RejectedRow]
    phone_number: list[str]
    f_name: list[str | None]
    l_name: list[str | None]
    email: list[str | None]
    f_name_key: list[str | None]
    l_name_key: list[str | None]
    email_key: list[str | None]
    fields: list[str | None]


class ReadFailed(Struct, frozen=True, tag="failed", array_like=True):
    """The file can't be read."""

    reason: str
