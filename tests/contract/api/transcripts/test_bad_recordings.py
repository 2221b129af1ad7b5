"""Recordings that are late, lost, damaged, of another kind or too long."""

import struct
from pathlib import Path

import pytest
from msgspec.structs import replace

from api.engine_client import open_client
from api.transcripts.queue import MAX_WAIT_MS
from api.transcripts.recording import PIECE_BYTES
from api.transcripts.worker import TranscriptWorker
from tests.contract.api.transcripts.scene import (
    TranscriptScene,
    path_of,
    recorded,
    transcript_scene_with,
    wav,
)
from tests.harness.api.databases import sqlite_url
from tests.harness.api.transcripts.simulated_recognizer import SimulatedRecognizer
from tests.harness.ports import free_port
from tests.harness.rpc.scene import TOKEN as RPC_TOKEN
from tests.harness.rpc.scene import RpcScene

MINUTE_MS = 60_000
SECOND = bytes(16_000)
PATH = path_of(1)


def header(kind: int, channels: int, rate: int, bits: int) -> bytes:
    """Return the beginning of a file with a second of silence."""
    frame_bytes = channels * bits // 8
    shape = (kind, channels, rate, rate * frame_bytes, frame_bytes, bits)
    body = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, *shape) + b"data" + struct.pack("<I", 16_000)
    return b"RIFF" + struct.pack("<I", len(body) + 16_000) + body + SECOND


@pytest.mark.parametrize(
    ("file", "detail"),
    [
        (b"", "the file is empty"),
        (b"ID3" + SECOND, "it is no WAV file"),
        (b"RIFF", "it is no WAV file"),
        (wav(SECOND)[:30], "its header has no format, or no samples follow"),
        (wav(SECOND)[:12] + b"data" + bytes(8), "its header has no format, or no samples follow"),
        (header(1, 1, 8_000, 8), "its samples are not PCM of 16 bits"),
        (header(7, 1, 8_000, 16), "its samples are not PCM of 16 bits"),
        (header(1, 6, 8_000, 16), "it has 6 channels of 8000 Hz"),
        (header(1, 0, 8_000, 16), "it has 0 channels of 8000 Hz"),
        (header(1, 1, 44_100, 16), "it has 1 channels of 44100 Hz"),
    ],
)
async def test_a_file_that_cannot_be_read(
    one: TranscriptScene, simulated: SimulatedRecognizer, file: bytes, detail: str
) -> None:
    """No recognizer is bothered with it, and the reason says what is wrong."""
    await one.archive(PATH, file)
    await one.end(recorded(1))
    await one.work()
    found = await one.transcript(PATH)
    assert (found["reason"], found["detail"]) == ("unreadable", detail)
    assert simulated.starts == []


async def test_a_file_with_further_chunks(
    one: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """They are left out; so is half a sample at the end."""
    audio = bytes(range(200)) * 50
    plain = wav(audio, audio)
    listed = plain[:36] + b"LIST" + struct.pack("<I", 3) + b"abc\0" + plain[36:] + b"\x01\x02\x03"
    await one.archive(PATH, listed)
    await one.end(recorded(1))
    await one.work()
    assert await one.state() == ("done", None)
    assert simulated.audio == [audio, audio]


async def test_nothing_was_recorded(one: TranscriptScene) -> None:
    """A file without samples has a transcript without segments."""
    await one.archive(PATH, wav(b""))
    await one.end(recorded(1))
    await one.work()
    assert (await one.transcript(PATH))["durationMs"] == 0
    assert await one.state() == ("done", None)


async def test_a_file_of_many_pieces(one: TranscriptScene, simulated: SimulatedRecognizer) -> None:
    """Each byte of each channel arrives once, in messages of at most a second."""
    left = bytes(range(250)) * (2 * PIECE_BYTES // 250)
    right = left[::-1]
    await one.archive(PATH, wav(left, right))
    await one.end(recorded(1))
    await one.work()
    assert simulated.audio == [left, right]


async def test_too_long(tmp_path: Path, scene: RpcScene, simulated: SimulatedRecognizer) -> None:
    """The limit is the operator's; no further audio is read."""
    async with transcript_scene_with(
        sqlite_url(tmp_path), scene, simulated.address, transcript_max_minutes=1
    ) as transcript_scene:
        await transcript_scene.archive(PATH, wav(SECOND * 61))
        await transcript_scene.archive(path_of(2), wav(SECOND * 60))
        await transcript_scene.end(recorded(1), recorded(2))
        await transcript_scene.work()
        assert await transcript_scene.state(1) == ("failed", "too_long")
        assert await transcript_scene.state(2) == ("done", None)
        assert len(simulated.starts) == 1


async def test_a_recording_that_is_archived_later(transcript_scene: TranscriptScene) -> None:
    """Its transcript waits for it."""
    await transcript_scene.end(recorded(1, "ended"))
    for _ in range(20):
        transcript_scene.clock.now += MINUTE_MS
        await transcript_scene.worker.once()
    assert await transcript_scene.state() == ("queued", None)
    await transcript_scene.archive(PATH, wav(SECOND))
    transcript_scene.clock.now += MINUTE_MS
    await transcript_scene.worker.once()
    assert await transcript_scene.state() == ("done", None)


async def test_a_recording_that_never_comes(one: TranscriptScene) -> None:
    """After a day, it is not waited for any more."""
    await one.end(recorded(1, "ended"))
    one.clock.now += MAX_WAIT_MS - 1
    await one.worker.once()
    assert await one.state() == ("queued", None)
    one.clock.now += MINUTE_MS
    await one.worker.once()
    assert await one.state() == ("failed", "not_archived")


async def test_no_engine_to_read_from(one: TranscriptScene) -> None:
    """It is waited for as for a recording that is not archived."""
    services = one.rest.services
    await one.archive(PATH, wav(SECOND))
    await one.end(recorded(1))
    async with open_client([f"http://127.0.0.1:{free_port()}"], RPC_TOKEN) as down:
        transcriber = replace(one.transcriber, engine=down)
        await TranscriptWorker(one.queue, services.accounts, transcriber, services.metrics).once()
    assert await one.state() == ("queued", None)
    one.clock.now += MINUTE_MS
    await one.work()
    assert await one.state() == ("done", None)
