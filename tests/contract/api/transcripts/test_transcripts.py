"""From a call that ends to its transcript over REST."""

import pytest

from api.accounts.store import TranscriptSetting
from api.retention.expiry import DAY_MS
from tests.contract.api.transcripts.scene import DAY, FILES, TranscriptScene, path_of, recorded, wav
from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.api.cdrs.records import NOON_MS
from tests.harness.api.transcripts.simulated_recognizer import SimulatedRecognizer

SECOND = bytes(range(250)) * 64  # of a channel
OTHER = bytes(reversed(range(250))) * 64
PATH = path_of(1)
OUTCOMES = ("done", "failed", "retried")


async def test_each_side_of_a_call(
    transcript_scene: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """Its channels are transcribed apart, in whole, and shown in order of time."""
    await transcript_scene.archive(PATH, wav(SECOND * 100, OTHER * 40))
    await transcript_scene.end(recorded(1))
    assert await transcript_scene.state() == ("queued", None)
    await transcript_scene.work()
    found = await transcript_scene.transcript(PATH)
    assert (found["state"], found["recognizer"], found["language"]) == ("done", "double", "en-US")
    assert (found["callId"], found["durationMs"]) == ("0-pbx1-call00000001", 100_000)
    text = f"{len(SECOND) * 100} bytes"
    assert found["segments"] == [
        {"channel": each, "startMs": 20, "endMs": 100_000, "text": text, "confidence": 0.75}
        for each in ("main", "other")
    ]
    assert simulated.audio[0] == SECOND * 100
    assert simulated.audio[1] == (OTHER * 40).ljust(len(SECOND) * 100, b"\0")
    starts = [(each["live"], each["account"]) for each in simulated.starts]
    assert starts == [(False, "acme")] * 2
    assert simulated.most_streams == 1


async def test_times_and_confidences_are_kept_in_range(
    one: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """Those of the recording, whatever a recognizer sends."""
    simulated.mode = "odd"
    await one.archive(PATH, wav(SECOND))
    await one.end(recorded(1))
    await one.work()
    found = await one.transcript(PATH)
    names = ("text", "startMs", "endMs", "confidence")
    assert [tuple(each[name] for name in names) for each in found["segments"]] == [
        ("early", 0, 5, 0),
        ("backwards", 9, 9, 0.123),
        (f"{len(SECOND)} bytes", 20, 1_000, 0.75),
        ("late", 1_000, 1_000, 1),
    ]


async def test_what_is_measured(one: TranscriptScene, simulated: SimulatedRecognizer) -> None:
    """The audio of all channels, and outcomes; the next recording has its turn at once."""
    read = one.rest.services.metrics.registry.get_sample_value
    assert await one.worker.once(7.0) == 7.0
    for number in (1, 2):
        await one.archive(path_of(number), wav(SECOND * 3, SECOND))
    await one.end(recorded(1), recorded(2))
    assert await one.worker.once(7.0) == 0.0
    simulated.mode = "rejecting"
    assert await one.worker.once(7.0) == 0.0
    assert read("switchroom_api_transcribed_seconds_total") == 6
    outcomes = [read("switchroom_api_transcripts_total", {"outcome": each}) for each in OUTCOMES]
    assert outcomes == [1, 1, None]


async def test_a_voicemail_of_another_rate(
    one: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """It has one channel; the recognizer is told the rate of the file."""
    path = path_of(1, ".v1")
    await one.archive(path, wav(SECOND, rate=16_000))
    await one.end(recorded(1, suffix=".v1"))
    await one.work()
    assert [each["channel"] for each in (await one.transcript(path))["segments"]] == ["main"]
    assert simulated.starts[0]["rate"] == 16_000


async def test_the_setting_of_the_account(
    one: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """Language and hints are sent, as they are when the recording has its turn."""
    await one.archive(PATH, wav(SECOND))
    await one.end(recorded(1))
    await one.set(TranscriptSetting("double", "nb-NO", ("Switchroom",)))
    await one.work()
    assert simulated.starts[0]["language"] == "nb-NO"
    assert simulated.starts[0]["hints"] == ["Switchroom"]


async def test_off_by_default(
    transcript_scene: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """An account without the setting has no transcripts, and none once it removes it."""
    for number, account in ((1, "acme"), (2, "other")):
        await transcript_scene.archive(path_of(number, account=account), wav(SECOND))
        await transcript_scene.end(recorded(number, account=account))
    await transcript_scene.set(None)
    await transcript_scene.end(recorded(3))
    await transcript_scene.work()
    assert [await transcript_scene.state(number) for number in (1, 3)] == [
        ("not_transcribed", None)
    ] * 2
    token = await transcript_scene.rest.token_of("other", "other")
    path = path_of(2, account="other")
    assert (await transcript_scene.transcript(path, token))["code"] == "not_transcribed"
    assert simulated.starts == []


async def test_no_account_sees_anothers(transcript_scene: TranscriptScene) -> None:
    """Nor requests it; and a token without the scope sees none."""
    await transcript_scene.archive(PATH, wav(SECOND))
    await transcript_scene.end(recorded(1))
    await transcript_scene.work()
    other = await transcript_scene.rest.token_of("other", "other")
    agent = await transcript_scene.rest.token_of("1001")
    for path in (PATH, PATH.replace("acme/", "other/")):
        assert (await transcript_scene.transcript(path, other))["status"] == 404
        answer = await transcript_scene.rest.request(
            "POST", f"{FILES}/{path}/transcript", token=other
        )
        assert answer.status_code in {404, 409}
    assert (await transcript_scene.transcript(PATH, agent))["status"] == 403
    assert (await transcript_scene.state())[0] == "done"


async def test_states_are_shown_in_lists(transcript_scene: TranscriptScene) -> None:
    """Of records and of recordings: absent or null without a transcript."""
    await transcript_scene.archive(PATH, wav(SECOND))
    await transcript_scene.end(recorded(1), recorded(2, "lost"), recorded(3, "ended"))
    await transcript_scene.work()
    records = (await transcript_scene.rest.request("GET", "/srmain/cdr", params=REQUIRED)).json()[
        "data"
    ]
    shown = {each["reqId"][-1]: each["recordings"][0].get("transcript") for each in records}
    assert shown == {"1": "done", "2": None, "3": "queued"}
    record = (
        await transcript_scene.rest.request("GET", f"/srmain/cdr/{recorded(1).call_id}")
    ).json()
    assert record["recordings"][0]["transcript"] == "done"
    listed = (await transcript_scene.rest.request("GET", "/srmain/recordings")).json()["data"]
    assert {each["callId"][-1]: each["transcript"] for each in listed} == {
        "1": "done",
        "3": "queued",
    }


async def test_a_transcript_ends_with_its_recording(transcript_scene: TranscriptScene) -> None:
    """By deletion, by retention, and by erasure of a person; others stay."""
    for number in range(1, 5):
        await transcript_scene.archive(path_of(number), wav(SECOND))
    await transcript_scene.end(
        recorded(1),
        recorded(2, after_ms=-20 * DAY_MS),
        recorded(3, from_="+4790000007"),
        recorded(4),
    )
    await transcript_scene.work()
    assert await transcript_scene.delete(PATH) == 204
    services = transcript_scene.rest.services
    await services.erasure.erase("acme", "+4790000007")
    found = [(await transcript_scene.state(number))[0] for number in range(1, 5)]
    assert found == ["not_transcribed", "done", "not_transcribed", "done"]
    await transcript_scene.limit(
        keep_recordings_days=(transcript_scene.clock.now - NOON_MS) // DAY_MS + 10
    )
    await services.expiry.run_once()
    assert [(await transcript_scene.state(number))[0] for number in (2, 4)] == [
        "not_transcribed",
        "done",
    ]


async def test_a_recording_that_is_deleted_while_it_is_transcribed(
    transcript_scene: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """Its transcript is not stored any more."""
    await transcript_scene.archive(PATH, wav(SECOND))
    await transcript_scene.end(recorded(1))
    async with transcript_scene.transcribing(simulated):
        assert (await transcript_scene.state())[0] == "running"
        await transcript_scene.delete(PATH)
        assert (await transcript_scene.state())[0] == "not_transcribed"
    assert (await transcript_scene.state())[0] == "not_transcribed"


async def test_requests(transcript_scene: TranscriptScene, simulated: SimulatedRecognizer) -> None:
    """An older recording, or one that has failed, is queued by a request; others stay."""
    await transcript_scene.set(None)
    await transcript_scene.archive(PATH, wav(SECOND))
    await transcript_scene.end(recorded(1), recorded(2, "lost"))
    url = f"{FILES}/{PATH}/transcript"
    assert (await transcript_scene.rest.rejected("POST", url))[:2] == (409, "transcripts_off")
    await transcript_scene.set(TranscriptSetting("double"))
    simulated.mode = "rejecting"
    requested = await transcript_scene.rest.request("POST", url)
    assert (requested.status_code, requested.json()["state"]) == (202, "queued")
    await transcript_scene.work()
    assert await transcript_scene.state() == ("failed", "rejected")
    simulated.mode = "normal"
    assert (await transcript_scene.rest.request("POST", url)).json()["state"] == "queued"
    await transcript_scene.work()
    done = await transcript_scene.transcript(PATH)
    assert (await transcript_scene.rest.request("POST", url)).json() == done
    for path in (path_of(2), path_of(3), f"acme/{DAY}/x.v1.wav"):
        answer = await transcript_scene.rest.request("POST", f"{FILES}/{path}/transcript")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("file", ["x.mp3", "a.wav/b.wav", "x.v.wav"])
async def test_no_recording(one: TranscriptScene, file: str) -> None:
    """A path that no recording has is 404."""
    answer = await one.rest.request("GET", f"{FILES}/acme/{DAY}/{file}/transcript")
    assert answer.status_code == 404


async def test_events_that_arrive_twice(
    transcript_scene: TranscriptScene, simulated: SimulatedRecognizer
) -> None:
    """Each recording is transcribed once."""
    await transcript_scene.archive(PATH, wav(SECOND))
    await transcript_scene.end(recorded(1))
    await transcript_scene.work()
    await transcript_scene.end(recorded(1))
    await transcript_scene.work()
    assert len(simulated.starts) == 1
    assert (await transcript_scene.state())[0] == "done"
