"""`switchroom streams`: runs a stream gateway."""

from functools import partial

from engine.program import listen_failure, run_program
from streams.app.gateway import Gateway
from streams.app.settings import Settings
from streams.control.server import BindFailed
from wire.settings import load


def streams() -> None:
    """Run a stream gateway until SIGTERM; engines reach bots over it.

    Example: switchroom streams
    """
    cannot_listen = listen_failure("SWITCHROOM_STREAMS_HOST and SWITCHROOM_STREAMS_PORT")
    run_program(partial(load, Settings), Gateway, {BindFailed: cannot_listen})
