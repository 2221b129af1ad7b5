"""Filing: raw tapes of a PBX become one WAV file, also hours of it, or nothing at all."""

import io
import wave
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from engine.recordings.archive import open_archive
from engine.recordings.archiver import RecordingArchiver, RecordingPart
from engine.recordings.errors import ArchiveError

MS = b"\x01\x00\x02\x00" * 8  # of stereo: left 1, right 2


class Tapes:
    """A PBX that serves tapes by name; one of None breaks off."""

    def __init__(self) -> None:
        self.files: dict[str, bytes | None] = {}

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve a tape."""
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


class Bench:
    """A cabinet between a PBX and a directory."""

    def __init__(self, tapes: Tapes, cabinet: RecordingArchiver, archive: Path) -> None:
        self.tapes = tapes
        self.cabinet = cabinet
        self.archive = archive

    def read(self, path: str) -> tuple[int, list[int]]:
        """Give a file's channels and samples."""
        with wave.open(io.BytesIO((self.archive / path).read_bytes())) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
            return file.getnchannels(), samples.tolist()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """Serve tapes, and file them."""
    tapes, archive = Tapes(), tmp_path / "archive"
    app = web.Application()
    app.router.add_get("/ari/recordings/stored/{name}/file", tapes.serve)
    async with TestServer(app) as server, aiohttp.ClientSession() as http:
        kept = open_archive(f"file://{archive}", {})
        yield Bench(
            tapes, RecordingArchiver(str(server.make_url("/ari")), http, kept, tmp_path), archive
        )


async def test_a_tape_is_filed(bench: Bench) -> None:
    """As it is, with a header."""
    bench.tapes.files["a~k1"] = MS * 40
    assert await bench.cabinet.file("acme/a.wav", 2, [RecordingPart("a~k1", 5)]) == 40
    assert bench.read("acme/a.wav") == (2, [1, 2] * 320)


async def test_a_message_is_filed(bench: Bench) -> None:
    """In mono."""
    bench.tapes.files["v1"] = b"\x03\x00" * 80
    assert await bench.cabinet.file("v1.wav", 1, [RecordingPart("v1", 5)]) == 10
    assert bench.read("v1.wav") == (1, [3] * 80)


async def test_tapes_follow_each_other_in_time(bench: Bench) -> None:
    """In the order in which they began; what lies between is silence, what overlaps is not cut."""
    bench.tapes.files = {"first": MS * 10, "second": MS * 5, "third": MS}
    parts = [
        RecordingPart("second", 1_030),
        RecordingPart("first", 1_000),
        RecordingPart("gone", 900),
        RecordingPart("third", 1_033),
    ]
    assert await bench.cabinet.file("call.wav", 2, parts) == 36
    samples = bench.read("call.wav")[1]
    assert samples == [1, 2] * 80 + [0] * 320 + [1, 2] * 48


async def test_without_a_tape_there_is_nothing(bench: Bench) -> None:
    """No file is made of nothing."""
    assert await bench.cabinet.file("call.wav", 2, [RecordingPart("gone", 5)]) is None
    assert not (bench.archive / "call.wav").exists()


async def test_a_torn_sample_is_completed(bench: Bench) -> None:
    """A PBX that died in the midst of one."""
    bench.tapes.files["torn"] = MS + b"\x01"
    await bench.cabinet.file("call.wav", 2, [RecordingPart("torn", 5)])
    assert bench.read("call.wav")[1] == [1, 2] * 8 + [1, 0]


async def test_what_is_filed_stays(bench: Bench) -> None:
    """Again is the same: a part that is left on the PBX never takes the place of the whole."""
    bench.tapes.files = {"first": MS * 10, "second": MS * 5}
    both = [RecordingPart("first", 0), RecordingPart("second", 10)]
    assert await bench.cabinet.file("call.wav", 2, both) == 15
    del bench.tapes.files["first"]
    assert await bench.cabinet.file("call.wav", 2, both) == 15
    assert len(bench.read("call.wav")[1]) == 15 * 16


async def test_a_pbx_that_breaks_off_leaves_nothing(bench: Bench) -> None:
    """What could not be had whole is not filed, and will be tried again."""
    bench.tapes.files = {"first": MS, "second": None}
    with pytest.raises(ArchiveError) as failed:
        await bench.cabinet.file(
            "call.wav", 2, [RecordingPart("first", 0), RecordingPart("second", 10)]
        )
    assert failed.value.where == "pbx"
    assert not (bench.archive / "call.wav").exists()


async def test_hours_are_filed(bench: Bench) -> None:
    """An hour of stereo passes through in pieces."""
    bench.tapes.files["long"] = bytes(3_600_000 * 32)
    assert await bench.cabinet.file("call.wav", 2, [RecordingPart("long", 0)]) == 3_600_000
    assert (bench.archive / "call.wav").stat().st_size == 44 + 3_600_000 * 32
