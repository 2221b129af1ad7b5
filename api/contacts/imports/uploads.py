"""Files as they come in: looked at, and stored until it is known of which list they are."""

import asyncio
import shutil
import tempfile
from pathlib import PurePath
from typing import BinaryIO, cast

from starlette.datastructures import UploadFile

from api.contacts.imports import reader_client
from api.contacts.imports.file_store import FileStore
from api.contacts.imports.reader.messages import FileHints, FileSummary, UnreadableFile
from api.contacts.lists.schemas import CsvOptions
from wire.errors import BadInput

MAX_CONCURRENT = 2  # looks at files: each may take a processor, and much memory
MAX_NAME_CHARS = 255


class UploadService:
    """Takes files."""

    def __init__(self, files: FileStore) -> None:
        self._files = files
        self._looks = asyncio.Semaphore(MAX_CONCURRENT)

    async def store(self, account_id: str, file: UploadFile, as_read: CsvOptions) -> int:
        """Look at a file and store it; gives its id. Raises BadInput for one that can't be read."""
        with tempfile.NamedTemporaryFile() as copy:
            await asyncio.to_thread(shutil.copyfileobj, file.file, copy)
            await asyncio.to_thread(copy.flush)
            found = await self._looked(FileHints(copy.name, as_read.encoding, as_read.delimiter))
            await asyncio.to_thread(copy.seek, 0)
            name = _named(file.filename or "")
            return await self._files.store(account_id, name, found, cast("BinaryIO", copy))

    async def _looked(self, given: FileHints) -> FileSummary:
        try:
            async with self._looks:
                return await reader_client.inspect_file(given)
        except UnreadableFile as error:
            raise BadInput("file", str(error)) from None


def _named(name: str) -> str:
    """Keep what can be shown of a name, without folders."""
    last = PurePath(name.replace("\\", "/")).name
    return "".join(each for each in last if each.isprintable())[:MAX_NAME_CHARS] or "file"
