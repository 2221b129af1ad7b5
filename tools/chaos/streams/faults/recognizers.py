"""Faults of recognizers: prompts go on, and so do conversations with bots."""

import os
import signal
from collections.abc import Mapping

from tools.chaos.streams.faults.bots import FROZEN_MS
from tools.chaos.streams.run import StreamFault
from tools.chaos.streams.scenario import Scenario


async def kill(scenario: Scenario) -> None:
    """SIGKILL of the recognizers, and a restart."""
    await scenario.programs.speech.kill()
    await scenario.programs.speech.start()


async def freeze(scenario: Scenario) -> None:
    """SIGSTOP of the recognizers for three seconds."""
    pid = scenario.programs.speech.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        await scenario.wait_ms(FROZEN_MS)
    finally:
        os.kill(pid, signal.SIGCONT)


FAULTS: Mapping[str, StreamFault] = {
    "recognizers_killed": StreamFault(kill),
    "recognizers_frozen": StreamFault(freeze),
}
