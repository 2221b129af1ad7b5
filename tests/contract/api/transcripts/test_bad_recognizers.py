"""Recognizers that are busy, missing, wrong or broken: bounded attempts, and a clear reason.

All of them are simulated.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from msgspec.structs import replace

from api.accounts.store import TranscriptSetting
from api.transcripts.queue import MAX_ATTEMPTS, MAX_WAIT_MS
from api.transcripts.recognizers import Recognizers, StreamTimeouts
from api.transcripts.worker import BUSY_S, TranscriptWorker
from tests.contract.api.transcripts.scene import (
    TranscriptScene,
    path_of,
    recorded,
    transcript_scene_with,
    wav,
)
from tests.harness.api.databases import sqlite_url
from tests.harness.api.transcripts.simulated_recognizer import TOKEN, SimulatedRecognizer
from tests.harness.ports import free_port
from tests.harness.rpc.scene import RpcScene

HOUR_MS = 3_600_000
AUDIO = wav(bytes(16_000) * 3)
BUSY = ("queued", None)


async def end_call(transcript_scene: TranscriptScene) -> None:
    await transcript_scene.archive(path_of(1), AUDIO)
    await transcript_scene.end(recorded(1))


async def attempts(transcript_scene: TranscriptScene) -> int:
    """Let hours pass until the transcript has ended; return how often it was tried."""
    tried = 0
    while (await transcript_scene.state())[0] == "queued":
        await transcript_scene.worker.once()
        transcript_scene.clock.now += HOUR_MS
        tried += 1
    return tried


@pytest.mark.parametrize("mode", ["failing", "closing", "junk"])
async def test_a_recognizer_that_fails(
    one: TranscriptScene, simulated: SimulatedRecognizer, mode: str
) -> None:
    """It is tried five times."""
    simulated.mode = mode
    await end_call(one)
    assert await attempts(one) == MAX_ATTEMPTS
    found = await one.transcript(path_of(1))
    assert (found["state"], found["reason"], found["segments"]) == (
        "failed",
        "recognizer_failed",
        [],
    )
    assert found["detail"].startswith("the recognizer failed: ")


async def test_a_recognizer_that_recovers(
    transcript_scene: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """A later attempt succeeds, and nothing is left of the failure."""
    simulated.mode = "failing"
    await end_call(transcript_scene)
    await transcript_scene.worker.once()
    assert await transcript_scene.state() == ("queued", None)
    simulated.mode = "normal"
    assert await attempts(transcript_scene) == 2  # the first one is too early
    assert await transcript_scene.state() == ("done", None)


async def test_a_recognizer_that_the_account_may_not_name(
    one: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """The operator has changed what it may name; nothing is sent to the recognizer."""
    await end_call(one)
    await one.limit(recognizers=("grammar",))
    assert await attempts(one) == 1
    found = await one.transcript(path_of(1))
    assert (found["state"], found["reason"]) == ("failed", "rejected")
    assert "expected one that this account may name: grammar" in found["detail"]
    assert simulated.starts == []


async def test_a_rejection_is_final(one: TranscriptScene, simulated: SimulatedRecognizer) -> None:
    """The customer reads what the recognizer says."""
    simulated.mode = "rejecting"
    await end_call(one)
    assert await attempts(one) == 1
    found = await one.transcript(path_of(1))
    assert (found["reason"], found["detail"]) == ("rejected", "language: en only")


async def test_control_characters(
    transcript_scene: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """Databases and terminals get none of those that a recognizer sends, wherever it does."""
    simulated.mode = "rejecting_rudely"
    await end_call(transcript_scene)
    assert await attempts(transcript_scene) == 1
    assert (await transcript_scene.transcript(path_of(1)))["detail"] == "bad hint [31m"
    simulated.mode = "rude"
    await transcript_scene.archive(path_of(2), AUDIO)
    await transcript_scene.end(recorded(2))
    await transcript_scene.work()
    segments = (await transcript_scene.transcript(path_of(2)))["segments"]
    assert {each["text"] for each in segments} == {"bad hint [31m"}


async def test_a_busy_recognizer_is_waited_for(
    transcript_scene: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """That is no attempt, however often; the worker does not ask for all others meanwhile."""
    simulated.mode = "busy"
    await end_call(transcript_scene)
    for _ in range(3 * MAX_ATTEMPTS):
        assert await transcript_scene.worker.once() == BUSY_S
        transcript_scene.clock.now += HOUR_MS
    assert await transcript_scene.state() == BUSY
    simulated.mode = "normal"
    await transcript_scene.work()
    assert await transcript_scene.state() == ("done", None)


async def test_nobody_waits_for_more_than_a_day(
    one: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """Then the recording has failed, with the reason; a request queues it again."""
    simulated.mode = "busy"
    await end_call(one)
    assert await attempts(one) == MAX_WAIT_MS // HOUR_MS + 1
    assert await one.state() == ("failed", "no_capacity")


async def test_a_wrong_token(
    tmp_path: Path, scene: RpcScene, simulated: SimulatedRecognizer
) -> None:
    """It is the operator's mistake: recordings wait until it is corrected."""
    wrong = f"another-{TOKEN}"
    async with transcript_scene_with(
        sqlite_url(tmp_path), scene, simulated.address, token=wrong
    ) as transcript_scene:
        await end_call(transcript_scene)
        await transcript_scene.work()
        assert await transcript_scene.state() == BUSY


async def test_a_web_server_in_its_place(
    one: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """What is no recognizer may be one after the operator's next deployment."""
    simulated.mode = "html"
    await end_call(one)
    await one.work()
    assert await one.state() == BUSY


async def test_an_unknown_recognizer(one: TranscriptScene) -> None:
    """The reason names it."""
    await one.set(TranscriptSetting("nobody"))
    await end_call(one)
    await one.work()
    found = await one.transcript(path_of(1))
    assert (found["reason"], found["detail"]) == ("unknown_recognizer", "no recognizer nobody")


async def test_several_addresses(
    tmp_path: Path, scene: RpcScene, simulated: SimulatedRecognizer
) -> None:
    """One that is free takes what a busy one, and one that is away, do not."""
    simulated.mode = "busy"
    away = f"ws://127.0.0.1:{free_port()}"
    async with SimulatedRecognizer() as second:
        addresses = (away, simulated.address, second.address)
        async with transcript_scene_with(
            sqlite_url(tmp_path), scene, *addresses
        ) as transcript_scene:
            for number in range(1, 4):
                await transcript_scene.archive(path_of(number), AUDIO)
                await transcript_scene.end(recorded(number))
            await transcript_scene.work()
            states = [await transcript_scene.state(number) for number in range(1, 4)]
    assert states == [("done", None)] * 3
    assert len(second.starts) == 3


@pytest.fixture
async def impatient(
    one: TranscriptScene, simulated: SimulatedRecognizer
) -> AsyncIterator[TranscriptScene]:
    """Provide a transcript_scene whose worker waits for a recognizer for a moment only."""
    services = one.rest.services
    async with aiohttp.ClientSession() as http:
        timeouts = StreamTimeouts(ready_s=0.2, stall_s=0.2)
        recognizers = Recognizers(http, [simulated.address], TOKEN, timeouts)
        transcriber = replace(one.transcriber, recognizers=recognizers)
        one.worker = TranscriptWorker(one.queue, services.accounts, transcriber, services.metrics)
        yield one


@pytest.mark.parametrize(
    ("mode", "minutes", "detail"),
    [
        ("silent", 0, "it did not begin in time"),
        ("endless", 0, "it does not end"),
        ("deaf", 60, "it does not read"),
    ],
)
async def test_a_recognizer_that_hangs(
    impatient: TranscriptScene, simulated: SimulatedRecognizer, mode: str, minutes: int, detail: str
) -> None:
    """Its stream is closed, and the recording is tried again."""
    one = impatient
    simulated.mode = mode
    await one.archive(path_of(1), wav(bytes(16_000) * (3 + 60 * minutes)))
    await one.end(recorded(1))
    assert await attempts(one) == MAX_ATTEMPTS
    found = await one.transcript(path_of(1))
    assert found["detail"] == f"the recognizer failed: {detail}"
    simulated.may_end.set()
