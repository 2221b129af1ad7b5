"""`switchroom streams`: runs a stream gateway."""

import asyncio
import signal
import sys
from typing import NoReturn

import uvloop

from engine.common.tls import TlsFileError
from engine.logging import configure
from sandbox.process import protect_process
from streams.app.gateway import Gateway
from streams.app.settings import Settings
from streams.control.server import BindFailed
from wire.error_codes.hint import failure_lines
from wire.programs.exit_status import ExitStatus
from wire.programs.invalid_settings import InvalidSettings
from wire.settings import load


def streams() -> None:
    """Run a stream gateway until SIGTERM; engines reach bots over it.

    Example: switchroom streams
    """
    try:
        settings = load(Settings)
    except InvalidSettings as error:
        _fail(str(error), "invalid_settings")
    configure(settings.log_level)
    uvloop.run(_run(settings))


async def _run(settings: Settings) -> None:
    protect_process()
    try:
        running = Gateway(settings)
    except TlsFileError as error:
        _fail(str(error), "unreadable_certificate")
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.stop)
    try:
        await running.run()
    except BindFailed as error:
        _fail(f"{error}; see SWITCHROOM_STREAMS_HOST and SWITCHROOM_STREAMS_PORT", "cannot_listen")


def _fail(reason: str, code: str) -> NoReturn:
    sys.stderr.write(f"{failure_lines('switchroom', reason, code)}\n")
    sys.exit(ExitStatus.NOT_DONE)
