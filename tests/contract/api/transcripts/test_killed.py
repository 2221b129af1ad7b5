"""Real processes: one is killed in the middle of a recording, another one transcribes it."""

import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.transcripts.store import transcripts
from tests.contract.api.transcripts.scene import FILES, path_of, recorded, wav
from tests.harness.api.cdrs.records import events_of
from tests.harness.api.leases import end_leases
from tests.harness.api.transcripts.simulated_recognizer import TOKEN, SimulatedRecognizer
from tests.harness.rpc.scene import TOKEN as RPC_TOKEN
from tests.harness.rpc.scene import RpcScene
from tests.harness.servers.records_api import RecordsApi
from tests.harness.shards import at
from tests.harness.until import until

PATH = path_of(1)


@pytest.fixture
async def apis(
    scene: RpcScene, database_url: str, tmp_path: Path, simulated: SimulatedRecognizer
) -> AsyncIterator[list[RecordsApi]]:
    """Provide two processes on one database, one engine and one recognizer, not started yet."""
    settings = {
        "SWITCHROOM_TRANSCRIPT_RECOGNIZERS": f'["{simulated.address}"]',
        "SWITCHROOM_SPEECH_TOKEN": TOKEN,
        "SWITCHROOM_ACCOUNT_SCOPES": '["owner"]',
    }
    found = [
        RecordsApi(
            tmp_path / name,
            database_url=database_url,
            engine_url=scene.url,
            rpc_token=RPC_TOKEN,
            settings=settings,
        )
        for name in ("api1", "api2")
    ]
    found[1].api_key = found[0].api_key
    yield found
    for api in found:
        await api.stop()


async def transcript(api: RecordsApi) -> dict[str, Any]:
    _, found = await api.request("GET", f"{FILES}/{PATH}/transcript")
    answer: dict[str, Any] = found
    return answer


async def test_a_process_is_killed(
    scene: RpcScene, apis: list[RecordsApi], simulated: SimulatedRecognizer, database_url: str
) -> None:
    """The recording is transcribed once, by the next one; its first channel is not repeated."""
    first, second = apis
    await first.start()
    setting = {"transcripts": {"recognizer": "double"}}
    assert (await first.request("PATCH", "/srmain/account", setting))[0] == 200
    await scene.archive.put(PATH, io.BytesIO(wav(bytes(16_000), bytes(16_000))))
    simulated.mode = "late_second"
    bodies = [msgspec.json.encode(event) for event in events_of(recorded(1))]
    scene.store.stream.append(at(0), bodies)
    await simulated.is_hearing.wait()
    assert (await transcript(first))["state"] == "running"
    await first.kill()
    await end_leases(database_url, transcripts)
    await second.start()
    simulated.may_end.set()

    async def is_done() -> bool:
        return (await transcript(second)).get("state") == "done"

    await until(is_done, what="the transcript")
    found = await transcript(second)
    assert [each["channel"] for each in found["segments"]] == ["main", "other"]
    assert len(simulated.starts) == 3
