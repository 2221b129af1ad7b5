"""`switchroom speech`: runs the speech recognizers."""

import asyncio
import signal
import sys
from typing import NoReturn

import uvloop

from engine.common.tls import TlsFileError
from engine.logging import configure
from sandbox.process import protect_process
from speech.server.app import BindFailed
from speech.server.process import NoRecognizer, SpeechProcess
from speech.settings import Settings
from wire.error_codes.hint import failure_lines
from wire.programs.exit_status import ExitStatus
from wire.programs.invalid_settings import InvalidSettings
from wire.settings import load


def speech() -> None:
    """Run speech recognizers until SIGTERM; stream gateways send them callers' audio.

    Example: switchroom speech
    """
    try:
        settings = load(Settings)
    except InvalidSettings as error:
        _fail(str(error), "invalid_settings")
    configure(settings.log_level)
    uvloop.run(_run(settings))


async def _run(settings: Settings) -> None:
    protect_process()
    running = SpeechProcess(settings)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.stop)
    try:
        await running.run()
    except TlsFileError as error:
        _fail(str(error), "unreadable_certificate")
    except NoRecognizer as error:
        _fail(str(error), "packages_missing")
    except BindFailed as error:
        _fail(f"{error}; see SWITCHROOM_SPEECH_HOST and SWITCHROOM_SPEECH_PORT", "cannot_listen")


def _fail(reason: str, code: str) -> NoReturn:
    sys.stderr.write(f"{failure_lines('switchroom', reason, code)}\n")
    sys.exit(ExitStatus.NOT_DONE)
