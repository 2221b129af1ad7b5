"""Faults of bots: they are called again, or heard again."""

import os
import signal
from collections.abc import Mapping

from tools.chaos.streams.outcome import lossy
from tools.chaos.streams.run import StreamFault
from tools.chaos.streams.scenario import Scenario

FROZEN_MS = 3_000


async def kill(scenario: Scenario) -> None:
    """SIGKILL of the program of all bots, and a restart."""
    await scenario.programs.bots.kill()
    await scenario.programs.bots.start()


async def freeze(scenario: Scenario) -> None:
    """SIGSTOP of the program of all bots for three seconds."""
    pid = scenario.programs.bots.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        await scenario.wait_ms(FROZEN_MS)
    finally:
        os.kill(pid, signal.SIGCONT)


FAULTS: Mapping[str, StreamFault] = {
    "bots_killed": StreamFault(kill, lossy(5_000)),
    "bots_frozen": StreamFault(freeze, lossy(1_000)),
}
