"""Receives uploaded files: inspects them, and stores them until they are assigned to a list."""

import asyncio
import shutil
import tempfile
from pathlib import PurePath
from typing import BinaryIO, cast

from starlette.datastructures import UploadFile

from api.contacts.imports import reader_client
from api.contacts.imports.file_store import FileStore
from api.contacts.imports.reader.messages import FileHints, FileSummary, UnreadableFile
from api.contacts.imports.schemas import CsvOptions
from api.contacts.quotas import ContactQuotas
from wire.decoding.errors import BadInput

MAX_INSPECTIONS = 2  # at once: each may take a processor, and much memory
MAX_NAME_CHARS = 255


class UploadService:
    def __init__(self, files: FileStore, quotas: ContactQuotas) -> None:
        self._files = files
        self._quotas = quotas
        self._inspections = asyncio.Semaphore(MAX_INSPECTIONS)

    async def store(self, account_id: str, file: UploadFile, options: CsvOptions) -> int:
        """Inspect and store a file, and return its id.

        Raises BadInput if it can't be read, Conflict if the account stores too much.
        """
        await self._quotas.check_bytes(account_id, file.size or 0)
        with tempfile.NamedTemporaryFile() as copy:
            await asyncio.to_thread(shutil.copyfileobj, file.file, copy)
            await asyncio.to_thread(copy.flush)
            summary = await self._inspect(FileHints(copy.name, options.encoding, options.delimiter))
            await asyncio.to_thread(copy.seek, 0)
            name = _safe_name(file.filename or "")
            return await self._files.store(account_id, name, summary, cast("BinaryIO", copy))

    async def _inspect(self, hints: FileHints) -> FileSummary:
        try:
            async with self._inspections:
                return await reader_client.inspect_file(hints)
        except UnreadableFile as error:
            raise BadInput("file", str(error)) from None


def _safe_name(name: str) -> str:
    """Return the printable part of a file name, without folders."""
    last = PurePath(name.replace("\\", "/")).name
    return "".join(each for each in last if each.isprintable())[:MAX_NAME_CHARS] or "file"
