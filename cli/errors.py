"""Errors for operators: what is wrong, where, and what to do; never a traceback."""

import asyncio
import os
import ssl
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn, ParamSpec

from rich.markup import escape

from base.exit_status import ExitStatus
from base.invalid_settings import InvalidSettings
from base.lab_folder import lab_hint
from cli.output import PlainConsole
from wire.error_codes.hint import PLAIN_CODES, code_hint
from wire.rpc import FieldError, Problem

P = ParamSpec("P")
FIRST_SERVER_ERROR = 500
_ADVICE = {
    "store_down": "Redis or Valkey does not answer the engine; `switchroom doctor` says more.",
    "no_node": "No PBX node is connected: `switchroom node list`, `switchroom doctor`.",
    "node_drained": "`switchroom node undrain NODE` allows new calls to a node.",
    "stopped": "`switchroom callback set TARGET` restarts delivery; then resend.",
    "unauthenticated": "`switchroom profile show` says which key is used.",
    "scope": "`switchroom key list` shows the scopes of keys; another profile may have them.",
    "changed_meanwhile": "Show it, and repeat with its version.",
    "no_target": "`switchroom callback set TARGET` sets the callback target of an account.",
}
NO_SOURCE = "defaults"  # the source of settings if there are none
REST = "REST layer"
_OF_KEYS = {"unauthenticated", "scope"}
_START = (
    "`switchroom dev up` starts a lab with one, and `switchroom api` runs one;"
    " `switchroom profile show` says which is used."
)


class RequestRejected(Exception):
    """The REST layer, or for the doctor an engine, rejected the request."""

    def __init__(self, problem: Problem, server: str = REST) -> None:
        super().__init__(problem.detail or problem.title)
        self.problem = problem
        self.server = server


class NotFound(Exception):
    """The resource to delete does not exist."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"no such {kind}: {name}")


class Unreachable(Exception):
    """No REST layer, or for the doctor no engine, answered at the URL."""

    def __init__(self, url: str, reason: str, name: str = REST) -> None:
        super().__init__(f"no {name} answers at {url}: {reason}")


class UsageError(Exception):
    """An invalid option or argument."""


def run(command: Coroutine[Any, Any, int | None]) -> NoReturn:
    """Run a command and exit with its status; print its error, if any."""
    with _printed_errors():
        raise SystemExit(asyncio.run(command) or ExitStatus.DONE)


def exit_on_errors(function: Callable[P, None]) -> Callable[P, None]:
    """Return a command without requests that prints its error, if any, and exits."""

    @wraps(function)
    def command(*values: P.args, **options: P.kwargs) -> None:
        with _printed_errors():
            function(*values, **options)

    return command


@contextmanager
def key_named(source: str) -> Iterator[None]:
    """Add to an error about a key from where the command has it.

    Where no setting was found, it says how this user's lab is reached.
    """
    try:
        yield
    except (RequestRejected, Unreachable, UsageError) as error:
        is_of_key = isinstance(error, RequestRejected) and error.problem.code in _OF_KEYS
        if is_of_key:
            error.add_note(f"{source} is in use.")
        if source == NO_SOURCE and (is_of_key or not isinstance(error, RequestRejected)):
            error.add_note(lab_hint(os.environ, Path()))
        raise


@contextmanager
def _printed_errors() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise SystemExit(ExitStatus.INTERRUPTED) from None
    except NotFound as error:
        _print(_lines(str(error)))
        raise SystemExit(ExitStatus.NEGATIVE) from None
    except (RequestRejected, Unreachable, UsageError, InvalidSettings) as error:
        _print(explain(error))
        is_negative = isinstance(error, RequestRejected) and error.problem.code == "not_found"
        status = ExitStatus.NEGATIVE if is_negative else ExitStatus.NOT_DONE
        raise SystemExit(status) from None


def _print(text: str) -> None:
    PlainConsole(stderr=True, highlight=False).print(text, soft_wrap=True)


def explain(error: RequestRejected | Unreachable | UsageError | InvalidSettings) -> str:
    """Return the error message, as rich markup."""
    match error:
        case RequestRejected(problem=problem, server=server):
            return _rejected(problem, server, _notes(error))
        case Unreachable():
            return _lines(str(error), *_notes(error), _START, code_hint("no_rest"))
        case InvalidSettings(lines=lines):
            return _lines(*("setting " + each for each in lines), code_hint("invalid_settings"))
        case _:
            return _lines(str(error), *_notes(error))


def _notes(error: Exception) -> Sequence[str]:
    return getattr(error, "__notes__", ())


def _rejected(problem: Problem, server: str, notes: Sequence[str]) -> str:
    if problem.errors:
        lines = [f"{each.path or 'body'}: {_field_error(each)}" for each in problem.errors]
        return _lines(f"the {server} rejected the request:", *lines, code_hint(problem.code))
    first, advice = problem.detail or problem.title, _ADVICE.get(problem.code, "")
    return _lines(first, *notes, advice, code_hint(problem.code))


def _field_error(error: FieldError) -> str:
    says_more = error.code and error.code not in PLAIN_CODES
    return f"{error.message} ({error.code})" if says_more else error.message


def _lines(first: str, *more: str) -> str:
    rest = [f"\n  {escape(line)}" for line in more if line]
    return f"[bold red]switchroom:[/] {escape(first)}{''.join(rest)}"


def is_transient(error: Unreachable | RequestRejected) -> bool:
    """Return whether the same request may succeed later."""
    return isinstance(error, Unreachable) or error.problem.status >= FIRST_SERVER_ERROR


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
