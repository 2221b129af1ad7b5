"""voicebench, a benchmark of others, talks with the Pipecat bot by a real call."""

from pathlib import Path

from tests.harness.bots.pipecat_bot import PipecatBot
from tests.harness.bots.turns import Turn
from tests.harness.bots.voicebench import conversation_scenario, run_voicebench
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone


async def test_the_bot_passes_voicebench(lab: Lab, tmp_path: Path) -> None:
    """It responds to a question, ignores a cough, and stops when it is interrupted."""
    scenario = await conversation_scenario(tmp_path)
    async with PipecatBot(tmp_path) as bot:
        data = {"url": bot.url, "bargeIn": "pause"}
        number = await lab.add_number({"type": "stream", "data": data})
        async with Phone.calling(lab.pbx, number) as caller:
            greeting = Turn(caller)
            await caller.wait_answered()
            caller.send_silence()
            call = await lab.wait_for_call()
            await greeting.until_over("the greeting")
            report = await run_voicebench(caller, scenario, tmp_path)
            await caller.hang_up()
        await lab.wait_ended(call)
    assert report["passed"], report["assertions"]
    summary = report["summary"]
    assert (summary["turns"], summary["turns_passed"]) == (3, 3), report["sessions"]
