"""`switchroom engine`: runs an engine."""

import asyncio
import signal
import sys
from typing import NoReturn

import uvloop

from engine.app.engine import Engine
from engine.common.tls import TlsFileError
from engine.config import Settings
from engine.logging import configure
from engine.rpc.server import BindFailed
from engine.store.errors import StoreDown
from engine.store.redis.address import parse_address
from engine.store.shard_layout import SlotsMismatch
from sandbox.process import protect_process
from wire.error_codes.hint import failure_lines
from wire.programs.exit_status import ExitStatus
from wire.programs.invalid_settings import InvalidSettings
from wire.settings import load


def engine() -> None:
    """Run an engine until SIGTERM; another engine continues its calls.

    Example: switchroom engine
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
        running = Engine(settings)
    except TlsFileError as error:
        _fail(str(error), "unreadable_certificate")
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.stop)
    try:
        await running.run()
    except StoreDown as error:
        where = parse_address(settings.redis_url).redacted
        _fail(f"the store can't be reached at {where}: {error}", "store_down")
    except SlotsMismatch as error:
        _fail(str(error), "slots_differ")
    except BindFailed as error:
        _fail(f"{error}; see SWITCHROOM_RPC_HOST and SWITCHROOM_RPC_PORT", "cannot_listen")


def _fail(reason: str, code: str) -> NoReturn:
    sys.stderr.write(f"{failure_lines('switchroom', reason, code)}\n")
    sys.exit(ExitStatus.NOT_DONE)
