"""The archive: one suite for a directory and for a bucket of an S3 server."""

import io
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from dev.servers.server import Server
from engine.recordings import Archive, ArchiveError, open_archive
from tests.harness.ports import free_port

LARGE = bytes(range(256)) * 50_000  # 12.8 MB: stored in several parts


class S3(Server):
    """An S3 server that stores objects in memory."""

    ready_within_s = 60

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = free_port()
        self.settings = {
            "endpoint": f"http://127.0.0.1:{self.port}",
            "region": "eu-north-1",
            "access_key_id": "key",
            "secret_access_key": "secret",
        }

    def command(self) -> tuple[str, ...]:
        """Return the command of moto's server."""
        serve = "import sys; from moto.server import main; main(sys.argv[1:])"
        return (sys.executable, "-c", serve, "-H", "127.0.0.1", "-p", str(self.port))

    async def is_ready(self) -> bool:
        """Create the bucket; return whether that succeeds."""
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.put(f"{self.settings['endpoint']}/calls") as reply,
            ):
                return reply.ok
        except aiohttp.ClientError:
            return False


@pytest.fixture(params=["file", "s3"])
async def archive(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Archive]:
    """Open an empty archive."""
    if request.param == "file":
        yield open_archive(f"file://{tmp_path}/recordings", {})
        return
    async with S3(tmp_path / "s3") as s3:
        yield open_archive("s3://calls/eu", s3.settings)


async def test_a_stored_file_exists(archive: Archive) -> None:
    """Files of any size are stored in new folders; a second put replaces a file."""
    path = "acme/2026-11-21/call.wav"
    assert await archive.size(path) is None
    for body in (b"", b"RIFF", LARGE):
        await archive.put(path, io.BytesIO(body))
        assert await archive.size(path) == len(body)


async def test_an_interrupted_file_is_not_stored(archive: Archive) -> None:
    """A partial file never appears under the final name."""

    class Breaking(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > len(LARGE) // 2:
                raise OSError("the disk failed")
            return super().read(size)

    with pytest.raises(ArchiveError):
        await archive.put("call.wav", Breaking(LARGE))
    assert await archive.size("call.wav") is None


async def test_a_missing_bucket_fails() -> None:
    """It fails within the time for which a call waits."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # without listening
        settings = {
            "endpoint": f"http://127.0.0.1:{taken.getsockname()[1]}",
            "region": "eu-north-1",
            "access_key_id": "key",
            "secret_access_key": "secret",
        }
        missing = open_archive("s3://calls/eu", settings)
        with pytest.raises(ArchiveError) as failed:
            await missing.size("call.wav")
    assert failed.value.fault == "archive"


async def test_a_missing_directory_fails(tmp_path: Path) -> None:
    """A put fails if a file has replaced the directory."""
    archive = open_archive(f"file://{tmp_path}/recordings", {})
    (tmp_path / "recordings").rmdir()
    (tmp_path / "recordings").touch()
    with pytest.raises(ArchiveError):
        await archive.put("acme/call.wav", io.BytesIO(b"RIFF"))
