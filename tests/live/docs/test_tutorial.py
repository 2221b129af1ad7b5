"""Every block of docs/tutorial.md runs in order, in each of its languages, and is heard."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.common.clock import now_ms
from api.common.timestamps import format_ms
from dev.servers.ports import taken_ports
from tests.harness.live_lab import Lab
from tests.harness.phones.audio import RATE_HZ, is_sound
from tests.harness.phones.heard_file import heard_ms
from tests.harness.phones.phone import Phone
from tests.harness.phones.recording_file import LEFT, RIGHT, RecordingFile
from tests.harness.ports import free_port
from tests.harness.servers.api import Api
from tests.harness.tutorial import FIRST_TERMINAL, Reader, blocks, choices
from tests.harness.until import until

ACCOUNT, NUMBER = "tutorial", "+15550004"  # of no other test
ENDPOINT = "tutorial-anna"
AGENT_HZ, CALLER_HZ = 600, 400
MIN_PROMPT_MS, MIN_GOODBYE_MS = 2_000, 1_500  # at any speed of speech
STEP = RATE_HZ // 10


@pytest.fixture
async def api(lab: Lab, tmp_path: Path) -> AsyncIterator[Api]:
    """Run a REST layer in front of the engine."""
    folder = tmp_path / "api"
    async with Api(folder, engines=[lab.engine], account=ACCOUNT, number=NUMBER) as running:
        yield running


@pytest.mark.parametrize("choice", choices())
async def test_the_tutorial_is_heard(lab: Lab, api: Api, tmp_path: Path, choice: str) -> None:
    """The caller of the page and a phone hear the prompt, press 1, and hear what follows.

    Another caller presses 2 and talks to the agent.
    """
    port = free_port()
    reader = Reader(tmp_path, replaced(lab, api, port), environment(lab, api))
    chosen = [each for each in blocks() if each.choice == choice]
    common = [each.text for each in blocks() if not each.choice and each.title != FIRST_TERMINAL]
    before, route, call, hear, see, agent, call_agent = common
    await reader.run(before)
    async with reader.programs(chosen):
        await until(lambda: bool(taken_ports([port])), what="the program to listen")
        await reader.run(route)
        started = format_ms(now_ms())  # the lab has calls of this page in other languages
        await reader.run(call)
        await until_recorded(api, started)
        await reader.run(hear)
        check_recording(RecordingFile(tmp_path / "call.wav"))
        check_heard(tmp_path / "heard.wav")
        assert "You pressed one" in await reader.run(see)
        await check_phone(lab)
        await reader.run(agent)
        await check_agent(lab, reader, call_agent)


def replaced(lab: Lab, api: Api, port: int) -> dict[str, str]:
    """Return the addresses of this test for those of the page."""
    return {
        "127.0.0.1:3000": f"127.0.0.1:{port}",
        "--port 3000": f"--port {port}",
        "listen(3000": f"listen({port}",
        "+4721930000": NUMBER,
        "127.0.0.1:5060": f"127.0.0.1:{lab.pbx.sip_port}",
        "a-long-password-of-your-own": lab.pbx.passwords.agents,
    }


def environment(lab: Lab, api: Api) -> dict[str, str]:
    """Return what `.env` has in the lab of a reader."""
    return {
        "SWITCHROOM_API_URL": api.url,
        "SWITCHROOM_NODES": json.dumps([{"name": "pbx1", "sip_port": lab.pbx.sip_port}]),
        "SWITCHROOM_API_KEY": api.api_key,
        "SWITCHROOM_ACCOUNT": ACCOUNT,
    }


async def until_recorded(api: Api, since: str) -> None:
    """Wait until REST lists the recording of a call since a time, as a reader does."""

    async def is_listed() -> bool:
        page = await api.request("GET", "/srmain/recordings", token=api.api_key)
        newest = page["data"][0] if page["data"] else {}
        return newest.get("startTime", "") >= since and bool(newest.get("durationMs"))

    await until(is_listed, what="the recording to be listed")


def check_recording(recording: RecordingFile) -> None:
    """Check that the right channel has speech, and the silent caller's has none.

    The caller of the page presses its key after a time, which may cut the prompt off.
    """
    assert recording.channels == 2
    heard = [
        sum(is_sound(side[start : start + STEP]) for start in range(0, len(side), STEP)) * 100
        for side in recording.sides
    ]
    assert heard[RIGHT] >= MIN_GOODBYE_MS
    assert heard[LEFT] == 0


def check_heard(path: Path) -> None:
    """Check that the caller's own file has the words, too."""
    assert heard_ms(path) >= MIN_GOODBYE_MS


async def check_phone(lab: Lab) -> None:
    """Check what a phone with audio hears, before and after the key."""
    async with Phone.calling(lab.pbx, NUMBER) as caller:
        await until(lambda: spoken_ms(caller) >= MIN_PROMPT_MS, what="the prompt")
        before_ms = spoken_ms(caller)
        await caller.press("1")
        await until(lambda: spoken_ms(caller) - before_ms >= MIN_GOODBYE_MS, what="the goodbye")
        await caller.wait_ended()


async def check_agent(lab: Lab, reader: Reader, call: str) -> None:
    """Check that a caller of the page, and a phone that presses 2, reach the agent."""

    async def has_phone() -> bool:
        return any(each["resource"] == ENDPOINT for each in await lab.ari("endpoints/PJSIP"))

    await until(has_phone, what="the PBX to know the agent's phone")
    async with Phone.agent(lab.pbx, ENDPOINT, tone_hz=AGENT_HZ) as agent:
        calling = asyncio.create_task(reader.run(call))
        await agent.wait_answered()
        await agent.hang_up()
        await calling
    async with (
        Phone.agent(lab.pbx, ENDPOINT, tone_hz=AGENT_HZ) as agent,
        Phone.calling(lab.pbx, NUMBER, tone_hz=CALLER_HZ) as caller,
    ):
        await until(lambda: spoken_ms(caller) >= MIN_PROMPT_MS, what="the prompt")
        await caller.press("2")
        await caller.until_hears(AGENT_HZ)
        await agent.until_hears(CALLER_HZ)
        await caller.hang_up()
        await agent.wait_ended()


def spoken_ms(phone: Phone) -> int:
    """Return how much sound a phone has received."""
    return sum(each.length_ms for each in phone.sound_spans())
