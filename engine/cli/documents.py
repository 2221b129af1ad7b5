"""`switchroom route` and `routes`: what calls to a number run."""

from typing import Annotated, Any

import msgspec
from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from engine.cli import typed, words
from engine.cli.client import opened
from engine.cli.faults import BadUse, run
from engine.cli.where import HERE, AccountFlag, ClientSettings, Where, address, whose

routed = App(
    name="route", usage="Usage: switchroom route NUMBER [ACTION] [OPTIONS]", version_flags=()
)


@routed.default
def route(  # noqa: PLR0913 - one for each flag
    number: str = "",
    action: Annotated[str, Parameter(help="JSON, @file, or an address to ask.")] = "",
    *,
    delete: Annotated[bool, Parameter(help="Take the route away.")] = False,
    account: AccountFlag = "",
    custom_data: Annotated[str, Parameter(help="JSON or @file, for webhooks.")] = "",
    where: Where = HERE,
) -> None:
    """Say what calls to a number run; the number * stands for all others."""
    if not number:
        routed.help_print()
        return
    if delete and not action:
        run(_unrouted(number, where))
    run(_routed(number, "" if delete else action, account, custom_data, where))


def routes(*, where: Where = HERE) -> None:
    """List the number routes."""
    run(_routes(where))


async def _routed(number: str, action: str, account: str, custom_data: str, where: Where) -> None:
    if not action:
        raise BadUse("either an action, or --delete")
    settings = ClientSettings()
    body: dict[str, Any] = {
        "account": whose(account, settings),
        "action": typed.action(action),
    }
    if custom_data:
        body["customData"] = typed.mapping(custom_data, "--custom-data")
    async with opened(*address(where, settings)) as client:
        await client.put_route(number, body)


async def _unrouted(number: str, where: Where) -> None:
    async with opened(*address(where, ClientSettings())) as client:
        await client.delete_route(number)


async def _routes(where: Where) -> None:
    async with opened(*address(where, ClientSettings())) as client:
        found = await client.routes()
    table = Table("number", "account", "action", box=None)
    for number, each in sorted(found.items()):
        table.add_row(number, each.account, words.action(msgspec.to_builtins(each.action)))
    Console(highlight=False).print(
        table if found else "no routes: calls from the trunk are refused"
    )
