"""A recorded call, and its transcript over REST."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.bots.speech import spoken
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import Api
from tests.harness.until import until

ACCOUNT, NUMBER = "transcribed", "+15550022"  # of no other test
HINTS = ["sales", "support", "billing"]
GAP_MS = 1_500  # between utterances


@pytest.fixture
async def api(lab: Lab, tmp_path: Path) -> AsyncIterator[Api]:
    """Run a REST layer in front of the engine; it knows the recognizers."""
    assert lab.speech is not None
    address = lab.speech.url.replace("http", "ws", 1)
    settings = {
        "SWITCHROOM_TRANSCRIPT_RECOGNIZERS": f'["{address}"]',
        "SWITCHROOM_SPEECH_TOKEN": lab.speech.token,
        "SWITCHROOM_ACCOUNT_SCOPES": '["owner"]',
    }
    async with Api(
        tmp_path / "api", engines=[lab.engine], settings=settings, account=ACCOUNT, number=NUMBER
    ) as running:
        yield running


async def test_a_call_is_transcribed(lab: Lab, api: Api) -> None:
    """It has what the caller said and heard, and nothing of a pause of the recording."""
    setting = {"transcripts": {"recognizer": "grammar", "hints": HINTS}}
    await api.request("PATCH", "/srmain/account", setting, token=api.api_key)

    async def post(path: str, body: object = None) -> dict[str, Any]:
        return await api.request("POST", f"/srmain/voice/{path}", body or {}, token=api.api_key)

    prompt = {"type": "say", "data": {"text": "Support."}}
    wait = {"type": "pause", "data": {"length": 60}}
    async with Phone.answering(lab.trunk_port) as phone:
        request = {"from": NUMBER, "to": "+15550188", "action": {**prompt, "action": wait}}
        call = (await post("call", {**request, "recordCall": True}))["callId"]
        await lab.wait_for_state(call, "pausing")
        await phone.wait_spoken(GAP_MS)
        await phone.say(await spoken("billing"))
        await phone.wait_spoken(GAP_MS)
        await post(f"call/{call}/recording/pause")
        await phone.say(await spoken("support"))
        await phone.wait_spoken(GAP_MS)
        await post(f"call/{call}/recording/resume")
        await phone.wait_spoken(GAP_MS)
        await phone.say(await spoken("sales"))
        await phone.wait_spoken(GAP_MS)
        await phone.hang_up()
    url = (await lab.engine.wait_for_event(call, "completed"))["recordingUrl"]
    path = f"/srmain/recordings/files/{'/'.join(url.split('/')[-3:])}/transcript"
    found: dict[str, Any] = {}

    async def is_done() -> bool:
        found.update(await api.request("GET", path, token=api.api_key))
        return bool(found["state"] == "done")

    await until(lambda: is_recorded(api, call), what="the record")
    await until(is_done, what="the transcript")
    texts = {
        side: [each["text"] for each in found["segments"] if each["channel"] == side]
        for side in ("main", "other")
    }
    assert texts == {"main": ["billing", "sales"], "other": ["support"]}
    assert all(each["confidence"] > 0.5 for each in found["segments"])


async def is_recorded(api: Api, call: str) -> bool:
    listed = await api.request("GET", f"/srmain/recordings?callId={call}", token=api.api_key)
    return bool(listed["data"])
