"""An engine with the in-memory store: `python -m tools.bench.engine.in_memory`."""

import asyncio
import signal

import uvloop

from base.logging import configure
from engine.app.engine import Engine
from engine.config import Settings
from tests.harness.memory_store.store import MemoryStore


async def _run(settings: Settings) -> None:
    running = Engine(settings, MemoryStore())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.stop)
    await running.run()


if __name__ == "__main__":
    settings = Settings()
    configure(settings.log_level)
    uvloop.run(_run(settings))
