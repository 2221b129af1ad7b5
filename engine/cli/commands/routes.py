"""`switchroom route` and `routes`: what calls to a number run."""

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

route = App(name="route", help="Say what calls to a number run.", version_flags=())


@route.command(name="set")
def put(
    number: Annotated[str, Parameter(help="The number called; * stands for all others.")],
    action: Annotated[str, Parameter(help="JSON, @file, or an engine_address to ask.")],
    *,
    account: AccountFlag = "",
    custom_data: Annotated[str, Parameter(help="JSON or @file, for webhooks.")] = "",
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Say what calls to a number run."""
    run(_put(number, action, account, custom_data, where))


@route.command(name="rm")
def remove(number: str, *, where: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """Take a number's route away."""
    run(_remove(number, where))


@route.command(name="list")
def routes(*, where: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """List the number routes."""
    run(_routes(where))


async def _put(
    number: str, action: str, account: str, custom_data: str, where: ConnectionOptions
) -> None:
    settings = ClientSettings()
    body: dict[str, Any] = {
        "account": resolve_account(account, settings),
        "action": parsing.action(action),
    }
    if custom_data:
        body["customData"] = parsing.mapping(custom_data, "--custom-data")
    async with open_client(*engine_address(where, settings)) as client:
        await client.put_route(number, body)


async def _remove(number: str, where: ConnectionOptions) -> None:
    async with open_client(*engine_address(where, ClientSettings())) as client:
        await client.delete_route(number)


async def _routes(where: ConnectionOptions) -> None:
    async with open_client(*engine_address(where, ClientSettings())) as client:
        found = await client.routes()
    table = Table("number", "account", "action", box=None)
    for number, each in sorted(found.items()):
        table.add_row(number, each.account, wording.action(msgspec.to_builtins(each.action)))
    Console(highlight=False).print(
        table if found else "no routes: calls from the trunk are refused"
    )
