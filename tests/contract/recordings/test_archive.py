"""The archive, one suite over a directory and over a bucket of a server that speaks S3."""

import io
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from engine.recordings.archive import Archive, open_archive
from engine.recordings.errors import ArchiveError
from tests.harness.ports import free_port
from tests.harness.servers.server import Server

LARGE = bytes(range(256)) * 50_000  # 12.8 MB: stored in several parts


class S3(Server):
    """A server that speaks S3 and keeps what it is given in memory."""

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
        """Return moto's server."""
        serve = "import sys; from moto.server import main; main(sys.argv[1:])"
        return (sys.executable, "-c", serve, "-H", "127.0.0.1", "-p", str(self.port))

    async def answers(self) -> bool:
        """Make the bucket, which tells whether it is ready."""
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


async def test_what_is_stored_is_there(archive: Archive) -> None:
    """Small or large, in folders that are made for it; again is over it."""
    path = "acme/2026-11-21/call.wav"
    assert await archive.size(path) is None
    for body in (b"", b"RIFF", LARGE):
        await archive.put(path, io.BytesIO(body))
        assert await archive.size(path) == len(body)


async def test_a_file_that_breaks_off_leaves_nothing(archive: Archive) -> None:
    """Nothing half is ever seen under the final name."""

    class Breaking(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > len(LARGE) // 2:
                raise OSError("the disk is gone")
            return super().read(size)

    with pytest.raises(ArchiveError):
        await archive.put("call.wav", Breaking(LARGE))
    assert await archive.size("call.wav") is None


async def test_a_bucket_that_is_not_there_fails() -> None:
    """Within the time that a call waits for it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        settings = {
            "endpoint": f"http://127.0.0.1:{taken.getsockname()[1]}",
            "region": "eu-north-1",
            "access_key_id": "key",
            "secret_access_key": "secret",
        }
        away = open_archive("s3://calls/eu", settings)
        with pytest.raises(ArchiveError) as failed:
            await away.size("call.wav")
    assert failed.value.where == "archive"


async def test_a_directory_that_is_not_there_fails(tmp_path: Path) -> None:
    """A file stands in its place."""
    archive = open_archive(f"file://{tmp_path}/recordings", {})
    (tmp_path / "recordings").rmdir()
    (tmp_path / "recordings").touch()
    with pytest.raises(ArchiveError):
        await archive.put("acme/call.wav", io.BytesIO(b"RIFF"))
