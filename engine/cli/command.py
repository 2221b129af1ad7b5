"""Commands from coroutine functions: options of the connection take the place of the client."""

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from engine.cli.client import Client, open_client
from engine.cli.errors import run
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    AccountFlag,
    ClientSettings,
    ConnectionOptions,
    engine_address,
    resolve_account,
)
from wire.settings import load

P = ParamSpec("P")
Command = Callable[..., None]
Status = Coroutine[Any, Any, int | None]


def client_command(function: Callable[Concatenate[Client, P], Status]) -> Command:
    """Return a command with --url and --token in place of the function's client."""
    return _command(function, for_account=False)


def account_command(function: Callable[Concatenate[Client, str, P], Status]) -> Command:
    """Return a command with --url, --token and --account in place of client and account."""
    return _command(function, for_account=True)


def _command(function: Callable[..., Status], *, for_account: bool) -> Command:
    async def execute(*values: Any, **options: Any) -> int | None:
        settings = load(ClientSettings)
        connection = options.pop("connection", DEFAULT_CONNECTION)
        async with open_client(*engine_address(connection, settings)) as client:
            if for_account:
                account = resolve_account(options.pop("account", ""), settings)
                return await function(client, account, *values, **options)
            return await function(client, *values, **options)

    @wraps(function)
    def command(*values: Any, **options: Any) -> None:
        run(execute(*values, **options))

    _hidden, *own = inspect.signature(function).parameters.values()
    if for_account:
        own = [*own[1:], _option("account", AccountFlag, "")]
    own.append(_option("connection", ConnectionOptions, DEFAULT_CONNECTION))
    command.__annotations__ = {each.name: each.annotation for each in own}
    command.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]  # read by cyclopts
    return command


def _option(name: str, kind: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
