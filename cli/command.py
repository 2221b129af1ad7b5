"""Commands from coroutine functions: options of the connection take the place of the client.

    @flow.command
    @resource_command
    async def show(resources: Resources, flow_id: FlowId) -> Shown:
        \"\"\"Show a flow.

        Example: switchroom flow show menu
        \"\"\"

The function returns what it shows, an exit status, or None. `--output` chooses how it is printed;
a function that prints while it runs has a parameter `output`, and one that needs the options of the
connection has `connection`.
"""

import inspect
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from functools import partial, wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec

from cli.calls import Calls, RestCalls
from cli.client import Client, open_client
from cli.errors import UsageError, key_named, run
from cli.named_commands import paragraphs
from cli.options.connection import (
    DEFAULT_CONNECTION,
    AccountFlag,
    ClientSettings,
    ConnectionOptions,
    client_settings,
    engine_address,
    resolve_account,
)
from cli.output import OutputFlag, Shown, write_shown
from cli.resources import Resources, RestResources, RpcResources
from cli.rest_client import RestClient, open_rest

P = ParamSpec("P")
Command = Callable[..., None]
Status = Coroutine[Any, Any, int | Shown | None]


class Opening(NamedTuple):
    """What a command is given: options, settings, and where clients are closed."""

    connection: ConnectionOptions
    settings: ClientSettings
    stack: AsyncExitStack

    async def engine(self) -> Client:
        address = engine_address(self.connection, self.settings)
        return await self.stack.enter_async_context(open_client(*address))

    def is_rest(self) -> bool:
        """Whether the account's key is used; an engine's URL on the command line goes before."""
        return self.settings.has_api and not self.connection.url


Opener = Callable[[Opening, str], Coroutine[Any, Any, tuple[Any, ...]]]


def client_command(function: Callable[Concatenate[Client, P], Status]) -> Command:
    """Return an operator's command with --url and --token in place of the function's client."""

    async def arguments(opening: Opening, _account: str) -> tuple[Any, ...]:
        return (await opening.engine(),)

    return _command(function, arguments, hidden=1)


def account_command(function: Callable[Concatenate[Client, str, P], Status]) -> Command:
    """Return an operator's command with --account, too, in place of client and account."""

    async def arguments(opening: Opening, account: str) -> tuple[Any, ...]:
        return await opening.engine(), resolve_account(account, opening.settings)

    return _command(function, arguments, hidden=2, has_account=True)


def rest_command(function: Callable[Concatenate[RestClient, P], Status]) -> Command:
    """Return a command of a customer, in place of the function's client of the REST layer."""

    async def arguments(opening: Opening, _account: str) -> tuple[Any, ...]:
        if opening.connection.url:
            raise UsageError("--url names an engine, and this command needs the REST layer")
        return (open_rest(opening.settings),)

    return _command(function, arguments, hidden=1)


def call_command(function: Callable[Concatenate[Calls, P], Status]) -> Command:
    """Return a command on calls: over REST if there is a key, else over the RPC."""

    async def arguments(opening: Opening, _account: str) -> tuple[Any, ...]:
        is_rest = opening.is_rest()
        return (RestCalls(open_rest(opening.settings)) if is_rest else await opening.engine(),)

    return _command(function, arguments, hidden=1)


def resource_command(function: Callable[Concatenate[Resources, P], Status]) -> Command:
    """Return a command on what an account owns: over REST if there is a key, else over the RPC."""

    async def arguments(opening: Opening, account: str) -> tuple[Any, ...]:
        if opening.is_rest():
            if account not in {"", opening.settings.account}:
                raise UsageError("--account: a key has one account; use another profile")
            return (RestResources(open_rest(opening.settings)),)
        named = partial(resolve_account, account, opening.settings)
        return (RpcResources(await opening.engine(), named),)

    return _command(function, arguments, hidden=1, has_account=True)


def _command(
    function: Callable[..., Status], arguments: Opener, *, hidden: int, has_account: bool = False
) -> Command:
    own = list(inspect.signature(function).parameters.values())[hidden:]
    read = {each.name for each in own} & {"connection", "output"}

    async def execute(*values: Any, **options: Any) -> int | None:
        connection = options.get("connection", DEFAULT_CONNECTION)
        output = options.get("output", "table")
        account = options.pop("account", "") if has_account else ""
        for name in {"connection", "output"} - read:
            options.pop(name, None)
        async with AsyncExitStack() as stack:
            opening = Opening(connection, client_settings(connection), stack)
            with key_named(opening.settings.source):
                found = await function(*await arguments(opening, account), *values, **options)
        if isinstance(found, Shown):
            write_shown(found, output)
            return found.status
        return found

    @wraps(function)
    def command(*values: Any, **options: Any) -> None:
        run(execute(*values, **options))

    if has_account:
        own.append(_option("account", AccountFlag, ""))
    if "connection" not in read:
        own.append(_option("connection", ConnectionOptions, DEFAULT_CONNECTION))
    if "output" not in read:
        own.append(_option("output", OutputFlag, "table"))
    command.__doc__ = paragraphs(function.__doc__ or "")
    command.__annotations__ = {each.name: each.annotation for each in own}
    command.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]  # read by cyclopts
    return command


def _option(name: str, kind: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
