"""The recording archive: a directory or an S3 bucket; a partial file is never visible."""

from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import IO

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, ObjectStore, S3Store

from engine.recordings.errors import ArchiveError

CHUNK_BYTES = 65_536
RETRY_TIMEOUT_S = 8  # shorter than a call waits for its recording


class Archive:
    """Stores recordings; `open_archive` creates it."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    async def size(self, path: str) -> int | None:
        """Return a file's size in bytes, or None if it does not exist; raises ArchiveError."""
        try:
            return (await obstore.head_async(self._store, path))["size"]
        except FileNotFoundError:
            return None
        except (BaseError, OSError) as error:
            raise ArchiveError("archive", str(error)) from error

    async def read(self, path: str, start: int, end: int) -> AsyncIterator[bytes]:
        """Yield a part of a file, without its `end`; raises ArchiveError."""
        try:
            found = await obstore.get_async(self._store, path, options={"range": (start, end)})
            async for chunk in found.stream(min_chunk_size=CHUNK_BYTES):
                yield bytes(chunk)
        except (BaseError, OSError) as error:
            raise ArchiveError("archive", str(error)) from error

    async def delete(self, path: str) -> None:
        """Delete a file, if it exists; raises ArchiveError."""
        try:
            await obstore.delete_async(self._store, path)
        except FileNotFoundError:
            return
        except (BaseError, OSError) as error:
            raise ArchiveError("archive", str(error)) from error

    async def put(self, path: str, file: IO[bytes]) -> None:
        """Store a file atomically; raises ArchiveError."""
        try:
            await obstore.put_async(self._store, path, file)
        except (BaseError, OSError) as error:
            raise ArchiveError("archive", str(error)) from error


def open_archive(url: str, s3: Mapping[str, str]) -> Archive:
    """Open a directory (`file:///…`) or a bucket (`s3://bucket/prefix`, with S3's settings)."""
    if url.startswith("file://"):
        folder = Path(url.removeprefix("file://"))
        folder.mkdir(parents=True, exist_ok=True)
        return Archive(LocalStore(folder, mkdir=True))
    store = S3Store.from_url(
        url.rstrip("/"),
        config=dict(s3),  # type: ignore[arg-type]  # the store checks the names
        client_options={
            "timeout": "60s",
            "connect_timeout": "5s",
            # Only if an address of these settings says so: recordings are personal data.
            "allow_http": any(each.startswith("http://") for each in s3.values()),
        },
        retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=RETRY_TIMEOUT_S)},
    )
    return Archive(store)
