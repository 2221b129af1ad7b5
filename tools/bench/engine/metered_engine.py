"""An engine with a LoopMeter on its RPC port: `python -m tools.bench.engine.metered_engine`."""

import asyncio
import signal

import uvloop

from base.logging import configure
from engine.app.engine import Engine
from engine.config import Settings
from tools.bench.engine.loop_meter import LoopMeter


async def _run(settings: Settings) -> None:
    running, loop = Engine(settings), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, running.stop)
    await loop.create_datagram_endpoint(LoopMeter, local_addr=("127.0.0.1", settings.rpc_port))
    await running.run()


if __name__ == "__main__":
    settings = Settings()
    configure(settings.log_level)
    uvloop.run(_run(settings))
