"""The scenario of a fault: all programs, and callers who talk to bots or listen to prompts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.monotonic import now_ms
from tests.harness.until import until
from tools.chaos.streams.callers.crowd import Crowd, crowd
from tools.chaos.streams.servers.programs import Programs, open_programs

PAUSED_AFTER_MS = 100  # a sound is noticed after 40


class Scenario:
    """Programs and callers; times are monotonic milliseconds."""

    def __init__(self, programs: Programs, callers: Crowd) -> None:
        self.programs = programs
        self.callers = callers
        self.began_ms = now_ms()

    async def begin(self) -> None:
        """Measure from now on: the fault begins, while prompts and bots pause for coughs."""
        self.callers.cough()
        await self.wait_ms(PAUSED_AFTER_MS)
        self.began_ms = now_ms()

    async def wait_restored(self) -> None:
        """Wait until each caller has a bot or a recognizer again, which hears."""
        await self.callers.wait_connected()
        await self.callers.wait_echoes()
        await self.callers.wait_forks_hear()

    async def wait_ms(self, ms: float) -> None:
        """Wait for the length of a fault."""
        until_ms = now_ms() + ms
        await until(lambda: now_ms() > until_ms, what=f"{ms:.0f} ms to pass")


@asynccontextmanager
async def open_scenario(folder: Path, calls: int) -> AsyncIterator[Scenario]:
    """Start the programs, and let so many callers call."""
    async with (
        WebhookServer() as hooks,
        MediaServer() as sounds,
        open_programs(folder) as programs,
        crowd(programs, hooks, sounds, calls) as callers,
    ):
        yield Scenario(programs, callers)
