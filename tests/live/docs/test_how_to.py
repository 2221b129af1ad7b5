"""How-tos on a real PBX: what they store does what they say."""

from pathlib import Path

from tests.harness.live_lab import Lab
from tests.harness.page_blocks import DOCS, page_blocks
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.api import Api
from tests.harness.tutorial import SECOND_TERMINAL, Block, Reader
from tests.harness.until import until

ACCOUNT, NUMBER = "howto", "+15550006"  # of no other test
CALLER_HZ, SOFTPHONE_HZ = 400, 700
MIN_PROMPT_MS, MIN_THANKS_MS = 1_500, 800  # at any speed of speech


async def test_a_softphone_in_a_terminal(lab: Lab, tmp_path: Path) -> None:
    """It registers as the agent, answers, says its tone, and keeps what it hears."""
    agent, *files, started = (each.text for each in page_blocks(DOCS / "how-to/softphone.md", "sh"))
    async with Api(tmp_path / "api", engines=[lab.engine], account=ACCOUNT, number=NUMBER) as api:
        replaced = {"127.0.0.1:5060": f"127.0.0.1:{lab.pbx.sip_port}", "5070": str(free_port())}
        settings = {
            "SWITCHROOM_API_URL": api.url,
            "SWITCHROOM_API_KEY": api.api_key,
            "HOME": str(tmp_path),
        }
        reader = Reader(tmp_path, replaced, settings)
        for text in (agent, *files):
            await reader.run(text)

        async def is_known() -> bool:
            return "acme-anna" in {each["resource"] for each in await lab.ari("endpoints/PJSIP")}

        await until(is_known, what="the node to know the agent")
        phone = Block("", "", "sh", SECOND_TERMINAL, started)
        async with reader.programs([phone]):

            async def is_online() -> bool:
                path = "/srmain/voice/agents/anna/presence"
                presence = await api.request("GET", path, token=api.api_key)
                return bool(presence["presence"] == "online")

            await until(is_online, what="the softphone to register")
            dial = {"type": "dial", "data": {"number": "agent:anna"}}
            path = f"/srmain/voice/numbers/{NUMBER}/route"
            await api.request("PUT", path, {"action": dial}, token=api.api_key)
            async with Phone.calling(lab.pbx, NUMBER, tone_hz=CALLER_HZ) as caller:
                await caller.until_hears(SOFTPHONE_HZ)
                await caller.hang_up()
            await until(lambda: any(tmp_path.glob("anna-phone/dump-*-dec.wav")), what="its file")


async def test_a_voicemail_is_taken(lab: Lab, tmp_path: Path) -> None:
    """No agent answers: the caller hears the prompt, speaks, presses # and hears the thanks."""
    folder = tmp_path / "api"
    async with Api(folder, engines=[lab.engine], account=ACCOUNT, number=NUMBER) as api:
        settings = {"SWITCHROOM_API_URL": api.url, "SWITCHROOM_API_KEY": api.api_key}
        reader = Reader(tmp_path, {"+4721930000": NUMBER}, settings)
        await reader.run(page_blocks(DOCS / "how-to/voicemail.md", "sh")[0].text)
        async with Phone.calling(lab.pbx, NUMBER, tone_hz=CALLER_HZ) as caller:
            call = await lab.wait_for_call()
            await until(lambda: spoken_ms(caller) >= MIN_PROMPT_MS, what="the prompt")
            await lab.wait_for_state(call, "recording")
            await caller.wait_spoken(8_000)
            before_ms = spoken_ms(caller)
            await caller.press("#")
            await until(lambda: spoken_ms(caller) - before_ms >= MIN_THANKS_MS, what="the thanks")
            await caller.wait_ended()
        await lab.wait_ended(call)
        await until_listed(api, call)
        record = await api.request("GET", f"/srmain/cdr/{call}", token=api.api_key)
        assert record["answerStatus"] == "missed"


def spoken_ms(phone: Phone) -> int:
    """Return how much sound a phone has received."""
    return sum(each.length_ms for each in phone.sound_spans())


async def until_listed(api: Api, call: str) -> None:
    """Wait until the voicemail of a call is listed."""

    async def is_listed() -> bool:
        path = "/srmain/recordings?purpose=voicemail"
        page = await api.request("GET", path, token=api.api_key)
        return [each["callId"] for each in page["data"]] == [call]

    await until(is_listed, what="the voicemail to be listed")
