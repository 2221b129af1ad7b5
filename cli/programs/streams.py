"""`switchroom streams`: runs a stream gateway."""

from functools import partial

from base.listen import BindFailed
from base.program import listen_failure, run_program
from base.settings import load
from streams.gateway import Gateway
from streams.settings import Settings


def streams() -> None:
    """Run a stream gateway until SIGTERM; engines reach bots over it.

    Example: switchroom streams
    """
    cannot_listen = listen_failure("SWITCHROOM_STREAMS_HOST and SWITCHROOM_STREAMS_PORT")
    run_program(partial(load, Settings), Gateway, {BindFailed: cannot_listen})
