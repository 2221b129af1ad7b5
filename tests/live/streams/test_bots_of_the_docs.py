"""The bots that the docs show, on real calls."""

import sys
from pathlib import Path

from dev.servers.process import Process
from tests.harness.bots.pipecat_packages import install
from tests.harness.bots.turns import Turn
from tests.harness.live_lab import Lab
from tests.harness.page_blocks import DOCS, page_blocks
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.api import Api
from tests.harness.servers.sample_app import SampleApp
from tests.harness.tutorial import SECOND_TERMINAL, Block, Reader
from tests.harness.until import until

ACCOUNT, NUMBER = "bots", "+15550007"  # of no other test
CALLER_HZ = 400
START_S = 60  # Pipecat imports a lot


async def test_the_parrot_repeats_a_phrase(lab: Lab, tmp_path: Path) -> None:
    """What the caller said is heard after a pause; the key # ends the call."""
    port = free_port()
    argv = (sys.executable, str(DOCS / "examples/parrot-bot.py"))
    bot = Process.start(argv, log=tmp_path / "bot.log", env={"PORT": str(port)})
    try:
        await until(SampleApp(port).is_listening, what="the bot to listen")
        url = f"ws://127.0.0.1:{port}"
        number = await lab.add_number({"type": "stream", "data": {"url": url}})
        async with Phone.calling(lab.pbx, number, tone_hz=CALLER_HZ) as caller:
            caller.speak_only(2_000)
            await caller.until_heard(CALLER_HZ)
            await Turn(caller).until_quiet("the end of the phrase")
            await caller.press("#")
            await caller.wait_ended()
        assert sum(each.length_ms for each in caller.tones_heard(CALLER_HZ)) >= 1_000
    finally:
        await bot.stop()


async def test_the_how_to_for_pipecat_can_be_followed(lab: Lab, tmp_path: Path) -> None:
    """Its bot is started, its command routes a number, and the caller hears the echo."""
    page = DOCS / "how-to/connect-a-pipecat-bot.md"
    _install, start, route = (each.text for each in page_blocks(page, "sh"))
    program, _transfer = (each.text for each in page_blocks(page, "python"))
    python, port = install(), free_port()
    folder = tmp_path / "api"
    async with Api(folder, engines=[lab.engine], account=ACCOUNT, number=NUMBER) as api:
        replaced = {"+4721930000": NUMBER, "7860": str(port), "~/my-bot/bin/python": str(python)}
        settings = {"SWITCHROOM_API_URL": api.url, "SWITCHROOM_API_KEY": api.api_key}
        reader = Reader(tmp_path, replaced, settings)
        blocks = [
            Block("", "", "python", "bot.py", program),
            Block("", "", "sh", SECOND_TERMINAL, start),
        ]
        async with reader.programs(blocks):
            listening = SampleApp(port).is_listening
            await until(listening, timeout_s=START_S, what="the bot to listen")
            await reader.run(route)
            async with Phone.calling(lab.pbx, NUMBER, tone_hz=CALLER_HZ) as caller:
                await caller.until_hears(CALLER_HZ)
                await caller.hang_up()
    await lab.wait_empty()
