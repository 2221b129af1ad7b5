"""The queue: each recording by one worker at a time, accounts in turn, whatever dies."""

import asyncio

import pytest
import sqlalchemy as sa

from api.accounts.store import TranscriptSetting
from api.jobs.store import LEASE_MS, LeaseLost
from api.transcripts.queue import ARCHIVE_DELAY_MS, MAX_ATTEMPTS, MAX_WAIT_MS, RETRY_DELAY_MS, Claim
from api.transcripts.store import TranscriptSegment, transcripts
from api.transcripts.worker import TranscriptWorker
from tests.contract.api.transcripts.scene import TranscriptScene, path_of, recorded, wav
from tests.harness.api.transcripts.simulated_recognizer import SimulatedRecognizer
from tests.harness.until import until

SECOND = bytes(16_000)
SEGMENT = TranscriptSegment("main", 0, 100, "Hello.", 0.5)


async def claimed(transcript_scene: TranscriptScene, owner: str = "me") -> Claim:
    claim = await transcript_scene.queue.claim(owner)
    assert claim is not None
    return claim


async def test_many_workers(
    transcript_scene: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """Each recording is transcribed once."""
    calls = [recorded(number) for number in range(12)]
    for number in range(12):
        await transcript_scene.archive(path_of(number), wav(SECOND))
    await transcript_scene.end(*calls)
    await asyncio.gather(*(transcript_scene.work() for _ in range(3)))
    assert [await transcript_scene.state(number) for number in range(12)] == [("done", None)] * 12
    assert len(simulated.starts) == 12


async def test_accounts_have_turns(transcript_scene: TranscriptScene) -> None:
    """An account with one recording waits for at most one of every other."""
    await transcript_scene.set(TranscriptSetting("double"), "other")
    await transcript_scene.end(*(recorded(number) for number in range(5)))
    await transcript_scene.end(recorded(5, account="other"))
    await transcript_scene.end(recorded(6, account="other"))
    owners = [(await claimed(transcript_scene)).account_id for _ in range(7)]
    assert owners[:2] in (["acme", "other"], ["other", "acme"])
    assert sorted(owners[2:4]) == ["acme", "other"]
    assert owners[4:] == ["acme"] * 3


async def test_a_process_that_dies(transcript_scene: TranscriptScene) -> None:
    """Another one continues after the last channel, and what the first one stores is ignored."""
    await transcript_scene.end(recorded(1))
    dead = await claimed(transcript_scene, "dead")
    dead = dead.with_setting(TranscriptSetting("double"))
    dead = await transcript_scene.queue.save_channel(dead, [SEGMENT])
    assert await transcript_scene.queue.claim("next") is None
    transcript_scene.clock.now += LEASE_MS
    successor = await claimed(transcript_scene, "next")
    assert (successor.channels_done, successor.segments) == (1, (SEGMENT,))
    await transcript_scene.queue.release(dead)
    for change in (transcript_scene.queue.renew(dead), transcript_scene.queue.finish(dead, 9)):
        with pytest.raises(LeaseLost):
            await change
    await transcript_scene.queue.finish(successor, 1_000)
    assert (await transcript_scene.transcript(path_of(1)))["segments"][0]["text"] == "Hello."


async def test_only_missing_channels_are_transcribed(
    transcript_scene: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """Unless the account has another recognizer or language by now."""
    for number in (1, 2):
        await transcript_scene.archive(path_of(number), wav(SECOND, SECOND))
        await transcript_scene.end(recorded(number))
        claim = (await claimed(transcript_scene)).with_setting(TranscriptSetting("double"))
        await transcript_scene.queue.save_channel(claim, [SEGMENT])
        if number == 2:
            await transcript_scene.set(TranscriptSetting("double", "en-GB"))
        transcript_scene.clock.now += LEASE_MS
        await transcript_scene.work()
    assert len(simulated.starts) == 1 + 2
    texts = [
        [each["text"] for each in (await transcript_scene.transcript(path_of(number)))["segments"]]
        for number in (1, 2)
    ]
    assert texts == [["Hello.", "16000 bytes"], ["16000 bytes", "16000 bytes"]]


async def test_a_recording_that_kills_processes(
    one: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """It is not tried for ever."""
    await one.end(recorded(1))
    for _ in range(MAX_ATTEMPTS):
        await claimed(one, "doomed")
        one.clock.now += LEASE_MS
    await one.worker.once()
    assert await one.state() == ("failed", "interrupted")
    assert simulated.starts == []


async def test_the_pauses_between_attempts(one: TranscriptScene) -> None:
    """Each is four times as long as the one before; the last attempt ends it."""
    await one.end(recorded(1))
    for attempt in range(MAX_ATTEMPTS - 1):
        await one.queue.retry(await claimed(one), "recognizer_failed", "it is away")
        one.clock.now += RETRY_DELAY_MS * 4**attempt - 1
        assert await one.queue.claim("early") is None
        one.clock.now += 1
    await one.queue.retry(await claimed(one), "recognizer_failed", "it is away")
    assert await one.state() == ("failed", "recognizer_failed")


async def test_a_recording_that_is_not_archived_yet(one: TranscriptScene) -> None:
    """It has its turn after half a minute."""
    await one.end(recorded(1, "ended"))
    one.clock.now += ARCHIVE_DELAY_MS - 1
    assert await one.queue.claim("early") is None
    one.clock.now += 1
    await claimed(one)


async def test_a_process_that_is_stopped(
    transcript_scene: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """It leaves the recording to others at once, and this was no attempt."""
    await transcript_scene.archive(path_of(1), wav(SECOND))
    await transcript_scene.end(recorded(1))
    simulated.mode = "late"
    working = asyncio.create_task(transcript_scene.worker.run(poll_interval_s=0.01))
    await simulated.is_hearing.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert await transcript_scene.state() == ("queued", None)
    assert (await claimed(transcript_scene)).attempts == 1


async def test_a_lease_is_renewed(one: TranscriptScene, simulated: SimulatedRecognizer) -> None:
    """A long recording stays with its worker."""
    services = one.rest.services
    await one.archive(path_of(1), wav(SECOND))
    await one.end(recorded(1))
    transcriber = one.transcriber
    one.worker = TranscriptWorker(
        one.queue, services.accounts, transcriber, services.metrics, renew_interval_s=0.01
    )
    async with one.transcribing(simulated):
        due = sa.select(transcripts.c.due_ms)
        before_ms = await one.database.scalar(due)
        one.clock.now += LEASE_MS - 1

        async def is_renewed() -> bool:
            return bool(await one.database.scalar(due) != before_ms)

        await until(is_renewed, what="the lease to be renewed")
        one.clock.now += LEASE_MS - 1
        assert await one.queue.claim("other") is None
    assert await one.state() == ("done", None)


async def test_where_nothing_transcribes(transcript_scene: TranscriptScene) -> None:
    """What waits for more than a day has failed, also if no process takes it; the newer waits."""
    await transcript_scene.end(recorded(1))
    transcript_scene.clock.now += MAX_WAIT_MS - 1
    await transcript_scene.queue.expire()
    assert await transcript_scene.state() == ("queued", None)
    await transcript_scene.end(recorded(2))
    transcript_scene.clock.now += 1
    await transcript_scene.queue.expire()
    assert await transcript_scene.state(1) == ("failed", "no_capacity")
    assert await transcript_scene.state(2) == ("queued", None)


async def test_how_long_the_oldest_waits(one: TranscriptScene) -> None:
    """Zero when none waits."""
    services = one.rest.services
    await services.transcripts.measure()
    read = services.metrics.registry.get_sample_value
    assert read("switchroom_api_transcript_age_seconds") == 0
    await one.end(recorded(1))
    one.clock.now += 90_000
    await services.transcripts.measure()
    assert read("switchroom_api_transcript_age_seconds") == 90
