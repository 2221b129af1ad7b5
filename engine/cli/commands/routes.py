"""`switchroom route` and `routes`: the actions of inbound calls by number."""

from typing import Annotated, Any

import msgspec
from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from engine.cli.client import open_client
from engine.cli.errors import run
from engine.cli.options import parsing
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    AccountFlag,
    ClientSettings,
    ConnectionOptions,
    engine_address,
    resolve_account,
)
from engine.cli.timeline import wording

route = App(
    name="route",
    help="Manage number routes: the action of inbound calls to a number.",
    version_flags=(),
)


@route.command(name="set")
def put(
    number: Annotated[str, Parameter(help="Dialed number; * for all others.")],
    action: Annotated[str, Parameter(help="JSON, @file, or a webhook URL.")],
    *,
    account: AccountFlag = "",
    custom_data: Annotated[str, Parameter(help="JSON or @file, for webhooks.")] = "",
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Set the action of inbound calls to a number."""
    run(_put(number, action, account, custom_data, connection))


@route.command(name="rm")
def remove(number: str, *, connection: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """Delete the route of a number."""
    run(_remove(number, connection))


@route.command(name="list")
def routes(*, connection: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """List the number routes."""
    run(_routes(connection))


async def _put(
    number: str, action: str, account: str, custom_data: str, connection: ConnectionOptions
) -> None:
    settings = ClientSettings()
    body: dict[str, Any] = {
        "account": resolve_account(account, settings),
        "action": parsing.action(action),
    }
    if custom_data:
        body["customData"] = parsing.mapping(custom_data, "--custom-data")
    async with open_client(*engine_address(connection, settings)) as client:
        await client.put_route(number, body)


async def _remove(number: str, connection: ConnectionOptions) -> None:
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        await client.delete_route(number)


async def _routes(connection: ConnectionOptions) -> None:
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        found = await client.routes()
    table = Table("number", "account", "action", box=None)
    for number, each in sorted(found.items()):
        table.add_row(number, each.account, wording.action(msgspec.to_builtins(each.action)))
    Console(highlight=False).print(table if found else "no routes: inbound calls are rejected")
