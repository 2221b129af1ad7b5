"""Receives uploaded files: inspects them, and stores them until they are assigned to a list."""

import asyncio
from pathlib import PurePath
from typing import Annotated, BinaryIO, Literal

from msgspec import Meta, Struct
from starlette.datastructures import UploadFile

from api.accounts.cache import AccountCache
from api.common.account_concurrency import LimitedSlots
from api.contacts.imports import reader_client
from api.contacts.imports.file_store import FileStore
from api.contacts.imports.reader.messages import FileHints, FileSummary, UnreadableFile
from api.contacts.quotas import ContactQuotas
from base.limit import Limit
from wire.decoding.errors import BadInput
from wire.decoding.patterns import ENCODING

# Each may take a processor, and much memory.
MAX_INSPECTIONS: Annotated[
    int, Limit("process", "wait", "Inspections of uploads at once, one of each account.")
] = 2
MAX_INSPECTIONS_OF_ACCOUNT: Annotated[
    int, Limit("account", "429 `too_many_uploads`", "Uploads that are inspected, or wait for it.")
] = 8
MAX_NAME_CHARS = 255
Encoding = Annotated[str, Meta(min_length=1, max_length=32, pattern=ENCODING)]
Delimiter = Literal[",", ";", "\t", "|"]


class FileOptions(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """The encoding and the delimiter of a CSV file, if detection fails, and the header's row.

    Without `headerRow`, the first row that is not empty is the header.
    """

    encoding: Encoding | None = None
    delimiter: Delimiter | None = None
    header_row: Annotated[int, Meta(ge=1, le=1_000)] | None = None


class UploadService:
    def __init__(self, files: FileStore, quotas: ContactQuotas, accounts: AccountCache) -> None:
        self._accounts = accounts
        self._files = files
        self._quotas = quotas
        self._inspections = LimitedSlots(
            "too_many_uploads",
            "uploads",
            slots=MAX_INSPECTIONS,
            most_of_account=MAX_INSPECTIONS_OF_ACCOUNT,
        )

    async def store(self, account_id: str, file: UploadFile, options: FileOptions) -> int:
        """Inspect and store a file, and return its id.

        Raises BadInput if it can't be read, Conflict if the account stores too much, and
        TooManyRequests if too many of its files wait.
        """
        await self._quotas.check_bytes(account_id, file.size or 0)
        descriptor = await asyncio.to_thread(_on_disk, file.file)
        region = await self._accounts.region(account_id)
        async with self._inspections.slot(account_id):
            summary = await self._inspect(descriptor, options, region)
        await file.seek(0)
        return await self._files.store(
            account_id, _safe_name(file.filename or ""), summary, file.file
        )

    async def _inspect(
        self, descriptor: int, options: FileOptions, region: str | None
    ) -> FileSummary:
        # The file has no name: the reader inherits it, and opens it once more.
        path = f"/proc/self/fd/{descriptor}"
        hints = FileHints(path, options.encoding, options.delimiter, options.header_row, region)
        try:
            return await reader_client.inspect_file(hints, descriptor)
        except UnreadableFile as error:
            raise BadInput("file", str(error)) from None


def _on_disk(file: BinaryIO) -> int:
    """Return the descriptor of a received file; one that is in memory is written to disk first."""
    descriptor = file.fileno()
    file.flush()
    return descriptor


def _safe_name(name: str) -> str:
    """Return the printable part of a file name, without folders."""
    last = PurePath(name.replace("\\", "/")).name
    return "".join(each for each in last if each.isprintable())[:MAX_NAME_CHARS] or "file"
