"""What a file has, and what is asked of the process that reads it."""

from typing import Literal

from msgspec import Struct

Kind = Literal["csv", "xlsx", "xls", "ods"]
Action = Literal["skip", "update"]
Fields = dict[str, str]  # of a header, the field that its column fills

MAX_COLUMNS = 500
MAX_ROW_CHARS = 65_536  # letters
MAX_SAMPLE_ROWS = 10
BATCH_ROWS = 20_000  # numbers come in any order: each batch touches most pages of the indexes


class UnreadableFile(ValueError):
    """A file that can't be taken in at all; its text is shown to the customer."""


class FileRow(Struct, frozen=True):
    """A row of a file: its cells, or what is wrong with it."""

    line: int
    cells: list[str]
    fault: str = ""


class FileFormat(Struct, frozen=True):
    """How a file is read; encoding and delimiter are of CSV."""

    kind: Kind
    encoding: str | None = None
    delimiter: str | None = None


class FileSummary(Struct, frozen=True, tag="found", array_like=True):
    """What a look at a file has found; rows: at most so many."""

    format: FileFormat
    headers: list[str]
    sample: list[list[str]]
    rows: int


class FileHints(Struct, frozen=True):
    """What is known of a file before it is looked at: what its sender says, or nothing."""

    path: str
    encoding: str | None = None
    delimiter: str | None = None


class ReadRequest(Struct, frozen=True):
    """How a file's rows become contacts, and how many of them have been taken in already."""

    path: str
    format: FileFormat
    headers: list[str]
    mappings: Fields
    region: str | None
    action: Action
    skip: int


class RejectedRow(Struct, frozen=True, array_like=True):
    """A row that is no contact."""

    line: int
    reason: str
    cells: str  # as JSON


class Batch(Struct, frozen=True, tag="batch", array_like=True):
    """Contacts by column, each number once; and what became of other rows.

    `rows` are the file's so far, in all; `doubles` those whose number another row here has.
    """

    rows: int
    doubles: int
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
