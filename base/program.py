"""Runs a program until SIGTERM: its settings, its log, its signals, and what keeps it from running.

A failure that the program foresees is one line with its error code, and the exit status 2; any
other is a fault, with its traceback.
"""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn, Protocol, TypeVar

import uvloop

from base.exit_status import ExitStatus
from base.invalid_settings import InvalidSettings
from base.logging import configure
from base.sandbox import protect_process
from base.tls import TlsFileError
from wire.error_codes.hint import failure_lines


class ProgramSettings(Protocol):
    """The settings of a program."""

    @property
    def log_level(self) -> str: ...


class Program(Protocol):
    """A program; `run` returns when `stop` was called and it has ended its work."""

    def stop(self) -> None: ...

    async def run(self) -> None: ...


S = TypeVar("S", bound=ProgramSettings)


def _text(error: Exception, _settings: Any) -> str:
    return str(error)


class Failure(NamedTuple):
    """An error code, and what is said of an exception of a program with these settings."""

    code: str
    text: Callable[[Any, Any], str] = _text


Failures = Mapping[type[Exception], Failure]
_OF_ALL: Failures = {TlsFileError: Failure("unreadable_certificate")}


def listen_failure(settings: str) -> Failure:
    """Return the failure of a program that cannot listen where its settings say."""
    return Failure("cannot_listen", lambda error, _settings: f"{error}; see {settings}")


def run_program(
    read_settings: Callable[[], S], build: Callable[[S], Program], failures: Failures
) -> None:
    """Read the settings, build the program, and run it until SIGTERM or SIGINT."""
    try:
        settings = read_settings()
    except InvalidSettings as error:
        _fail(str(error), "invalid_settings")
    configure(settings.log_level)
    uvloop.run(_run(settings, build, {**_OF_ALL, **failures}), loop_factory=EventLoop)


async def _run(settings: S, build: Callable[[S], Program], failures: Failures) -> None:
    protect_process()
    try:
        program = build(settings)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, program.stop)
        await program.run()
    except tuple(failures) as error:
        code, text = next(each for kind, each in failures.items() if isinstance(error, kind))
        _fail(text(error, settings), code)


def _fail(reason: str, code: str) -> NoReturn:
    sys.stderr.write(f"{failure_lines('switchroom', reason, code)}\n")
    sys.exit(ExitStatus.NOT_DONE)


class EventLoop(uvloop.Loop):
    """uvloop's, in which a connection to an address waits for no lookup of a name.

    Its `sock_connect` resolves also what is an address, and names no kind of socket: without one,
    a thread does it, and two slow names hold all threads that uvloop has for that.
    """

    async def getaddrinfo(  # noqa: PLR0913 - as the base class has them
        self,
        host: str | bytes | None,
        port: str | bytes | int | None,
        *,
        family: int = 0,
        type: int = 0,  # noqa: A002 - as the base class calls it
        proto: int = 0,
        flags: int = 0,
    ) -> list[Any]:
        """Return addresses, of an address at once; raises OSError."""
        kind = type or socket.SOCK_STREAM
        return await super().getaddrinfo(
            host, port, family=family, type=kind, proto=proto, flags=flags
        )
