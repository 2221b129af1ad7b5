"""The Python samples on real calls: callers hear them, press digits and leave messages."""

from pathlib import Path

import pytest

from engine.cli.new.project import Framework
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.sample_app import run_sample
from tests.harness.until import until

PYTHON: tuple[Framework, ...] = ("fastapi", "flask")
AGENT_HZ, CALLER_HZ = 600, 400


async def until_spoken(caller: Phone) -> None:
    """Wait until the caller has heard a second of speech."""
    await until(lambda: sum(each.length_ms for each in caller.sound_spans()) > 1_000, what="speech")


@pytest.mark.parametrize("framework", PYTHON)
async def test_a_caller_is_connected_by_the_ivr(
    lab: Lab, tmp_path: Path, framework: Framework
) -> None:
    """The caller hears the menu, presses 1, and talks to sales."""
    async with Phone.answering(lab.trunk_port, tone_hz=AGENT_HZ) as sales:
        env = {"SALES": "+15550123"}
        async with run_sample("ivr", framework, tmp_path / "app", env) as app:
            number = await lab.add_number(f"{app.url}/answer")
            async with Phone.calling(lab.pbx, number, tone_hz=CALLER_HZ) as caller:
                call = await lab.wait_for_call()
                await lab.wait_for_state(call, "gathering")
                await until_spoken(caller)
                await caller.press("1")
                await caller.until_hears(AGENT_HZ)
                await sales.until_hears(CALLER_HZ)
                await caller.hang_up()
            await lab.wait_ended(call)
