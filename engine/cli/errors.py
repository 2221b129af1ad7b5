"""Faults as people read them: what is wrong, where, and what to do; never a traceback."""

import asyncio
import os
from collections.abc import Coroutine
from typing import Any, NoReturn

from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape

from wire.rpc import FieldError, Problem

EXIT_NOT_FOUND = 1  # exit status of `rm`: there was nothing of that name
EXIT_ERROR = 2  # nothing was done
EXIT_INTERRUPTED = 130

_ADVICE = {
    "unauthorized": "SWITCHROOM_RPC_TOKEN (in .env or the environment) must be the engine's.",
    "store_down": "Redis or Valkey does not answer the engine; `switchroom doctor` says more.",
    "no_node": "No PBX node is connected; `switchroom nodes` and `switchroom doctor` say more.",
    "node_drained": "`switchroom nodes undrain NODE` gives a node new calls again.",
    "stopped": "`switchroom callback set TARGET` starts it again; then send again.",
    "no_target": "`switchroom callback set TARGET` says where an account's calls are told.",
}


class RpcError(Exception):
    """The engine said no, and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail or problem.title)
        self.problem = problem


class NotFound(Exception):
    """There is nothing of that name to be taken away."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"no such {kind}: {name}")


class Unreachable(Exception):
    """No engine answered there."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"no engine answers at {url}: {why}")
        self.url = url


class UsageError(Exception):
    """What was typed can't be used; the text says why."""


def run(deed: Coroutine[Any, Any, int | None]) -> NoReturn:
    """Do it, and end the process with its exit status or with an explained fault."""
    errors = Console(stderr=True, highlight=False)
    try:
        status = asyncio.run(deed) or 0
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    except NotFound as error:
        errors.print(_lines(str(error)), soft_wrap=True)
        status = EXIT_NOT_FOUND
    except (RpcError, Unreachable, UsageError, ValidationError) as error:
        errors.print(explain(error), soft_wrap=True)
        status = EXIT_ERROR
    raise SystemExit(status)


def explain(fault: RpcError | Unreachable | UsageError | ValidationError) -> str:
    """Tell a fault, as rich markup."""
    match fault:
        case RpcError(problem=problem):
            return _refused(problem)
        case Unreachable():
            advice = "Start one with `make up` or `switchroom engine`, or name another by --url."
            return _lines(str(fault), advice)
        case ValidationError():
            return _lines(*("setting " + each for each in setting_errors(fault)))
        case _:
            return _lines(str(fault))


def setting_errors(error: ValidationError) -> list[str]:
    """Name each variable that is wrong, and how."""
    return [
        f"SWITCHROOM_{'__'.join(str(step) for step in each['loc']).upper()}: {each['msg']}"
        for each in error.errors()
    ]


def _refused(problem: Problem) -> str:
    if problem.errors:
        told = [f"{each.path or 'body'}: {_told(each)}" for each in problem.errors]
        return _lines("the engine refused this:", *told)
    first = problem.detail or problem.title
    return _lines(first, _ADVICE.get(problem.code, ""))


def _told(fault: FieldError) -> str:
    return f"{fault.message} ({fault.code})" if fault.code else fault.message


def _lines(first: str, *more: str) -> str:
    rest = [f"\n  {escape(line)}" for line in more if line]
    return f"[bold red]switchroom:[/] {escape(first)}{''.join(rest)}"


def error_text(error: BaseException) -> str:
    """Name the system's reason if there is one, else what the library says."""
    match error:
        case TimeoutError():
            return "no answer in time"
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number).lower()
        case _ if isinstance(error.__context__, OSError):
            return error_text(error.__context__)
        case _:
            return str(error) or type(error).__name__
