"""The samples on real calls: callers hear them, press digits and leave messages."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import get_args

import pytest

from cli.new import Framework
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.api import Api
from tests.harness.servers.sample_app import run_sample
from tests.harness.until import until

FRAMEWORKS = get_args(Framework)  # Express is skipped without npm
AGENT_HZ, CALLER_HZ, BEEP_HZ = 600, 400, 1000
CALLER = "+15550001"
OTHER_SECRET = "whsec_b3RoZXIgc2VjcmV0IG9mIGFub3RoZXI="  # noqa: S105 - of no account


async def until_spoken(phone: Phone) -> None:
    """Wait until a phone has heard a second of speech."""
    await until(lambda: sum(each.length_ms for each in phone.sound_spans()) > 1_000, what="speech")


@pytest.fixture
async def api(lab: Lab, tmp_path: Path) -> AsyncIterator[Api]:
    """Run a REST layer."""
    async with Api(tmp_path / "api", engines=[lab.engine]) as api:
        yield api


def settings_of(api: Api) -> dict[str, str]:
    """Return the variables that the SDK reads."""
    return {"SWITCHROOM_API_URL": api.url, "SWITCHROOM_API_KEY": api.api_key}


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_a_caller_is_connected_by_the_ivr(
    lab: Lab, tmp_path: Path, framework: Framework
) -> None:
    """The caller hears the menu, presses 1, and talks to sales; each request is verified."""
    account = f"sdk-{framework}"
    secret = (await lab.engine.documents.callback(account, {}))["secret"]
    env = {"SALES": "+15550123", "SWITCHROOM_WEBHOOK_SECRET": f"{OTHER_SECRET} {secret}"}
    async with (
        Phone.answering(lab.trunk_port, tone_hz=AGENT_HZ) as sales,
        run_sample("ivr", framework, tmp_path / "app", env) as app,
    ):
        number = await lab.add_number(f"{app.url}/answer", account=account)
        async with Phone.calling(lab.pbx, number, tone_hz=CALLER_HZ) as caller:
            call = await lab.wait_for_call()
            await lab.wait_for_state(call, "gathering")
            await until_spoken(caller)
            await caller.press("1")
            await caller.until_hears(AGENT_HZ)
            await sales.until_hears(CALLER_HZ)
            await caller.hang_up()
        await lab.wait_ended(call)


async def test_a_wrong_secret_ends_the_call(lab: Lab, tmp_path: Path) -> None:
    """An application that knows another account's secret serves none of our calls."""
    env = {"SWITCHROOM_WEBHOOK_SECRET": OTHER_SECRET}
    async with run_sample("ivr", "fastapi", tmp_path / "app", env) as app:
        number = await lab.add_number(f"{app.url}/answer")
        async with Phone.calling(lab.pbx, number) as caller:
            await caller.wait_ended()
            assert caller.sound_spans() == []


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_a_caller_leaves_a_message(lab: Lab, tmp_path: Path, framework: Framework) -> None:
    """The message ends with the hash key, and the application lists it with its address."""
    async with run_sample("voicemail", framework, tmp_path / "app") as app:
        number = await lab.add_number(f"{app.url}/answer")
        async with Phone.calling(lab.pbx, number, tone_hz=CALLER_HZ) as caller:
            await caller.until_heard(BEEP_HZ)
            call = await lab.wait_for_call()
            await lab.wait_for_state(call, "recording")
            await caller.press("#")
            await caller.wait_ended()
        await lab.wait_ended(call)
        messages = await app.get("/messages")
    assert isinstance(messages, list)
    (message,) = messages
    assert message["from"] == CALLER
    assert message["url"].startswith("file://")


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_a_caller_answers_the_survey(lab: Lab, tmp_path: Path, framework: Framework) -> None:
    """A question is repeated after another key; the results have the averages."""
    async with run_sample("survey", framework, tmp_path / "app") as app:
        number = await lab.add_number(f"{app.url}/answer")
        async with Phone.calling(lab.pbx, number) as caller:
            call = await lab.wait_for_call()
            for key in "954":
                await answer_question(lab, call, caller, key)
            await caller.wait_ended()
        results = await app.get("/results")
    assert isinstance(results, list)
    assert [(each["answers"], each["average"]) for each in results] == [(1, 5.0), (1, 4.0)]


async def answer_question(lab: Lab, call: str, caller: Phone, key: str) -> None:
    """Press a key when the call waits for it, and wait until it has arrived."""
    count = await digits_of(lab, call)

    async def has_arrived() -> bool:
        return await digits_of(lab, call) > count

    await lab.wait_for_state(call, "gathering")
    await caller.press(key)
    await until(has_arrived, what=f"the digit {key}")


async def digits_of(lab: Lab, call: str) -> int:
    """Return how many digits a call has got."""
    return sum(each["type"] == "digit-pressed" for each in await lab.timeline_events(call))


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_a_caller_after_hours_is_called_back(
    lab: Lab, tmp_path: Path, framework: Framework, api: Api
) -> None:
    """The office is closed, the caller presses 1, and is then connected with the agent."""
    async with Phone.answering(free_port(), tone_hz=AGENT_HZ) as agent:
        env = {"HOURS": "0-0", "AGENT": agent.address, **settings_of(api)}
        async with run_sample("after-hours", framework, tmp_path / "app", env) as app:
            number = await lab.add_number(f"{app.url}/answer")
            async with Phone.calling(lab.pbx, number, caller=CALLER) as caller:
                call = await lab.wait_for_call()
                await lab.wait_for_state(call, "gathering")
                await caller.press("1")
                await caller.wait_ended()
            await lab.wait_ended(call)
            assert await app.get("/waiting") == [CALLER]
            async with Phone.answering(lab.trunk_port, tone_hz=CALLER_HZ) as called:
                created = await app.post("/waiting/next")
                assert isinstance(created, dict)
                await agent.until_hears(CALLER_HZ)
                await called.until_hears(AGENT_HZ)
                await agent.hang_up()
            await lab.wait_ended(created["callId"])
            assert await app.get("/waiting") == []


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_a_click_connects_agent_and_number(
    lab: Lab, tmp_path: Path, framework: Framework, api: Api
) -> None:
    """The agent is called first, then the number of the page; the page shows the state."""
    async with (
        Phone.answering(free_port(), tone_hz=AGENT_HZ) as agent,
        Phone.answering(lab.trunk_port, tone_hz=CALLER_HZ) as called,
    ):
        env = {"AGENT": agent.address, **settings_of(api)}
        async with run_sample("click-to-call", framework, tmp_path / "app", env) as app:
            created = await app.post("/calls", {"number": "+15550177"})
            assert isinstance(created, dict)
            path = f"/calls/{created['callId']}"
            await agent.until_hears(CALLER_HZ)
            await called.until_hears(AGENT_HZ)
            assert await app.get(path) == {"status": "in-progress"}
            await agent.hang_up()
            await lab.wait_ended(created["callId"])
            assert await app.get(path) == {"status": "completed"}
