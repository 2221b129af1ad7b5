"""The `switchroom` command."""

import asyncio
import signal
import sys

import cyclopts
import uvloop
from pydantic import ValidationError

from engine.app import Engine
from engine.config import Settings
from engine.log import set_up

app = cyclopts.App(name="switchroom", help="Crash-safe media control for Asterisk.")


@app.command
def engine() -> None:
    """Run an engine until SIGTERM; its calls live on for the next one."""
    try:
        settings = Settings()
    except ValidationError as error:
        sys.exit(f"settings: {error}")
    set_up(settings.log_level)
    uvloop.run(_run(settings))


async def _run(settings: Settings) -> None:
    running = Engine(settings)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.stop)
    await running.run()


def main() -> None:
    """Run the command."""
    app()


if __name__ == "__main__":
    main()
