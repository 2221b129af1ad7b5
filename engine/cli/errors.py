"""Errors for operators: what is wrong, where, and what to do; never a traceback."""

import asyncio
import os
import ssl
from collections.abc import Coroutine
from typing import Any, NoReturn

from rich.console import Console
from rich.markup import escape

from wire.rpc import FieldError, Problem
from wire.settings import InvalidSettings

EXIT_NOT_FOUND = 1  # `rm` of an unknown name
EXIT_ERROR = 2  # nothing was changed
EXIT_INTERRUPTED = 130

_ADVICE = {
    "unauthorized": "SWITCHROOM_RPC_TOKEN (in .env or the environment) must match the engine's.",
    "store_down": "Redis or Valkey does not answer the engine; `switchroom doctor` says more.",
    "no_node": "No PBX node is connected; `switchroom nodes` and `switchroom doctor` say more.",
    "node_drained": "`switchroom nodes undrain NODE` allows new calls to a node.",
    "stopped": "`switchroom callback set TARGET` restarts delivery; then resend.",
    "no_target": "`switchroom callback set TARGET` sets the callback target of an account.",
}


class RpcError(Exception):
    """The engine rejected the request."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail or problem.title)
        self.problem = problem


class NotFound(Exception):
    """The resource to delete does not exist."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"no such {kind}: {name}")


class Unreachable(Exception):
    """No engine, or no REST layer, answered at the URL."""

    def __init__(self, url: str, reason: str, name: str = "engine") -> None:
        super().__init__(f"no {name} answers at {url}: {reason}")
        self.url = url


class UsageError(Exception):
    """An invalid option or argument."""


def run(command: Coroutine[Any, Any, int | None]) -> NoReturn:
    """Run a command and exit with its status; print its error, if any."""
    errors = Console(stderr=True, highlight=False)
    try:
        status = asyncio.run(command) or 0
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    except NotFound as error:
        errors.print(_lines(str(error)), soft_wrap=True)
        status = EXIT_NOT_FOUND
    except (RpcError, Unreachable, UsageError, InvalidSettings) as error:
        errors.print(explain(error), soft_wrap=True)
        status = EXIT_ERROR
    raise SystemExit(status)


def explain(error: RpcError | Unreachable | UsageError | InvalidSettings) -> str:
    """Return the error message, as rich markup."""
    match error:
        case RpcError(problem=problem):
            return _rejected(problem)
        case Unreachable():
            advice = "Start one with `make up` or `switchroom engine`, or use --url for another."
            return _lines(str(error), advice)
        case InvalidSettings(lines=lines):
            return _lines(*("setting " + each for each in lines))
        case _:
            return _lines(str(error))


def _rejected(problem: Problem) -> str:
    if problem.errors:
        lines = [f"{each.path or 'body'}: {_field_error(each)}" for each in problem.errors]
        return _lines("the engine rejected the request:", *lines)
    first = problem.detail or problem.title
    return _lines(first, _ADVICE.get(problem.code, ""))


def _field_error(error: FieldError) -> str:
    return f"{error.message} ({error.code})" if error.code else error.message


def _lines(first: str, *more: str) -> str:
    rest = [f"\n  {escape(line)}" for line in more if line]
    return f"[bold red]switchroom:[/] {escape(first)}{''.join(rest)}"


def error_text(error: BaseException) -> str:
    """Return the operating system's error text if there is one, else the library's."""
    match error:
        case TimeoutError():
            return "no response in time"
        case ssl.SSLCertVerificationError():
            return "its certificate is not trusted, or of another name (SWITCHROOM_TLS_CA)"
        case ssl.SSLError():
            return f"no TLS: {error.reason or error}"
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number).lower()
        case _ if isinstance(error.__context__, OSError):
            return error_text(error.__context__)
        case _:
            return str(error) or type(error).__name__
