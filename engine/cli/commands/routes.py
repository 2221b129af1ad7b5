"""`switchroom route` and `routes`: the actions of inbound calls by number."""

from typing import Annotated, Any

import msgspec
from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from engine.cli.client import Client
from engine.cli.command import account_command, client_command
from engine.cli.options import parsing
from engine.cli.timeline import wording
from wire.rpc import NumberRoute

route = App(
    name="route",
    help="Manage number routes: the action of inbound calls to a number.",
    version_flags=(),
)


@route.command(name="set")
@account_command
async def put(  # noqa: PLR0913 - one parameter per option
    client: Client,
    account: str,
    number: Annotated[
        str,
        Parameter(help="Dialed number or SIP user, such as sales; * for all others."),
    ],
    action: Annotated[str, Parameter(help="JSON, @file, or a webhook URL.")],
    *,
    custom_data: Annotated[str, Parameter(help="JSON or @file, for webhooks.")] = "",
    fallback: Annotated[
        str, Parameter(help="JSON or @file: a verb that runs if the webhook or flow fails.")
    ] = "",
    answer: Annotated[bool, Parameter(help="Answer at once, or when the tree needs media.")] = True,
) -> None:
    """Set the action of inbound calls to a number, or to the user part of a SIP address."""
    body: dict[str, Any] = {"account": account, "action": parsing.action(action)}
    if not answer:
        body["answer"] = False
    if custom_data:
        body["customData"] = parsing.mapping(custom_data, "--custom-data")
    if fallback:
        body["fallback"] = parsing.mapping(fallback, "--fallback")
    await client.request(NumberRoute, "PUT", "routes", number, body=body)


@route.command(name="rm")
@client_command
async def remove(
    client: Client,
    number: Annotated[
        str, Parameter(help="Dialed number or SIP user; * for the route of all others.")
    ],
) -> None:
    """Delete the route of a number."""
    await client.remove("route", number, "routes", number)


@route.command(name="list")
@client_command
async def routes(client: Client) -> None:
    """List the number routes."""
    found = await client.request(dict[str, NumberRoute], "GET", "routes")
    table = Table("number", "account", "action", box=None)
    for number, each in sorted(found.items()):
        table.add_row(number, each.account, wording.action(msgspec.to_builtins(each.action)))
    Console(highlight=False).print(table if found else "no routes: inbound calls are rejected")
