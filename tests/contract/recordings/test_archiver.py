"""The archiver joins a PBX's raw parts into one WAV file, or stores nothing."""

import io
import wave
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from engine.recordings import ArchiveError, RecordingArchiver, RecordingPart, open_archive

MS = b"\x01\x00\x02\x00" * 8  # of stereo: left 1, right 2


class PbxFiles:
    """A PBX that serves parts by name; the transfer of a None part breaks off."""

    def __init__(self) -> None:
        self.files: dict[str, bytes | None] = {}

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve a part."""
        name = request.match_info["name"]
        if name not in self.files:
            return web.Response(status=404)
        body = self.files[name]
        if body is not None:
            return web.Response(body=body)
        reply = web.StreamResponse(headers={"Content-Length": "1000"})
        await reply.prepare(request)
        await reply.write(MS)
        assert request.transport is not None
        request.transport.close()
        return reply


class Scene:
    """An archiver between a PBX and a directory."""

    def __init__(self, files: PbxFiles, archiver: RecordingArchiver, archive: Path) -> None:
        self.pbx = files
        self.archiver = archiver
        self.archive = archive

    def read(self, path: str) -> tuple[int, list[int]]:
        """Return a file's channels and samples."""
        with wave.open(io.BytesIO((self.archive / path).read_bytes())) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
            return file.getnchannels(), samples.tolist()


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    """Serve parts, and archive them."""
    files, archive = PbxFiles(), tmp_path / "archive"
    app = web.Application()
    app.router.add_get("/ari/recordings/stored/{name}/file", files.serve)
    async with TestServer(app) as server, aiohttp.ClientSession() as http:
        store = open_archive(f"file://{archive}", {})
        yield Scene(
            files, RecordingArchiver(str(server.make_url("/ari")), http, store, tmp_path), archive
        )


async def test_one_part_is_archived(scene: Scene) -> None:
    """The audio is unchanged and has a WAV header."""
    scene.pbx.files["a~k1"] = MS * 40
    assert await scene.archiver.archive("acme/a.wav", 2, [RecordingPart("a~k1", 5)]) == 40
    assert scene.read("acme/a.wav") == (2, [1, 2] * 320)


async def test_a_voicemail_is_archived(scene: Scene) -> None:
    """A voicemail is mono."""
    scene.pbx.files["v1"] = b"\x03\x00" * 80
    assert await scene.archiver.archive("v1.wav", 1, [RecordingPart("v1", 5)]) == 10
    assert scene.read("v1.wav") == (1, [3] * 80)


async def test_parts_are_ordered_by_start(scene: Scene) -> None:
    """Gaps are filled with silence; overlaps are not cut."""
    scene.pbx.files = {"first": MS * 10, "second": MS * 5, "third": MS}
    parts = [
        RecordingPart("second", 1_030),
        RecordingPart("first", 1_000),
        RecordingPart("gone", 900),
        RecordingPart("third", 1_033),
    ]
    assert await scene.archiver.archive("call.wav", 2, parts) == 36
    samples = scene.read("call.wav")[1]
    assert samples == [1, 2] * 80 + [0] * 320 + [1, 2] * 48


async def test_nothing_is_stored_without_a_part(scene: Scene) -> None:
    """No file is created."""
    assert await scene.archiver.archive("call.wav", 2, [RecordingPart("gone", 5)]) is None
    assert not (scene.archive / "call.wav").exists()


async def test_a_partial_sample_is_completed(scene: Scene) -> None:
    """A part may end within a sample, if the PBX died while it wrote it."""
    scene.pbx.files["torn"] = MS + b"\x01"
    await scene.archiver.archive("call.wav", 2, [RecordingPart("torn", 5)])
    assert scene.read("call.wav")[1] == [1, 2] * 8 + [1, 0]


async def test_an_archived_file_is_kept(scene: Scene) -> None:
    """Archiving again changes nothing: a remaining part never replaces the complete file."""
    scene.pbx.files = {"first": MS * 10, "second": MS * 5}
    both = [RecordingPart("first", 0), RecordingPart("second", 10)]
    assert await scene.archiver.archive("call.wav", 2, both) == 15
    del scene.pbx.files["first"]
    assert await scene.archiver.archive("call.wav", 2, both) == 15
    assert len(scene.read("call.wav")[1]) == 15 * 16


async def test_an_interrupted_transfer_stores_nothing(scene: Scene) -> None:
    """An incomplete recording is not stored; it is retried."""
    scene.pbx.files = {"first": MS, "second": None}
    with pytest.raises(ArchiveError) as failed:
        await scene.archiver.archive(
            "call.wav", 2, [RecordingPart("first", 0), RecordingPart("second", 10)]
        )
    assert failed.value.fault == "pbx"
    assert not (scene.archive / "call.wav").exists()


async def test_an_hour_is_archived(scene: Scene) -> None:
    """An hour of stereo is processed in chunks."""
    scene.pbx.files["long"] = bytes(3_600_000 * 32)
    assert await scene.archiver.archive("call.wav", 2, [RecordingPart("long", 0)]) == 3_600_000
    assert (scene.archive / "call.wav").stat().st_size == 44 + 3_600_000 * 32
