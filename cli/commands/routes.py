"""`switchroom route`: which action inbound calls to a number run."""

import sys
from typing import Annotated, Any

from cyclopts import App, Parameter

from cli.command import resource_command
from cli.errors import UsageError
from cli.named_commands import with_example
from cli.options import parsing
from cli.options.version import IfVersion
from cli.output import Column, Row, Shown, fields_shown, rows_shown, shown
from cli.resources import Resources
from cli.resources import remove as remove_resource
from cli.timeline import wording

Number = Annotated[
    str, Parameter(help="Dialed number or SIP user, such as sales; * for all others.")
]
FLOW_PREFIX = "flow:"
_UNLISTED = (
    "the console and `switchroom number list` show the number only if an account has it:"
    " `switchroom account number add`"
)
NO_ROUTES = "no routes: inbound calls are rejected"

route = App(name="route", help=with_example("Manage what calls to a number run.", "route list"))


@route.command(name="set")
@resource_command
async def put(  # noqa: PLR0913 - one parameter per option
    resources: Resources,
    number: Number,
    action: Annotated[
        str, Parameter(help="JSON, @file, a webhook URL, or flow:ID for a stored flow.")
    ],
    *,
    custom_data: Annotated[str, Parameter(help="JSON or @file, for webhooks.")] = "",
    fallback: Annotated[
        str, Parameter(help="JSON or @file: a verb that runs if the webhook or flow fails.")
    ] = "",
    answer: Annotated[
        bool,
        Parameter(help="Answer at once, or when the tree needs media.", negative="--no-answer"),
    ] = True,
    record: Annotated[bool, Parameter(help="Record the calls.")] = False,
    callback: Annotated[
        str, Parameter(help="Where status callbacks go: auto-set, or an API request's id.")
    ] = "",
    allow_listeners: Annotated[
        bool, Parameter(help="Let a developer's machine answer the webhooks: switchroom listen.")
    ] = False,
    if_version: IfVersion = None,
) -> Shown | None:
    """Set the action of inbound calls to a number, or to the user part of a SIP address.

    Example: switchroom route set +4721930000 flow:menu --record
    """
    body: dict[str, Any] = _action(action, is_rest=resources.is_rest)
    if not answer:
        body["answer"] = False
    if record:
        body["recordCall"] = True
    if allow_listeners:
        body["allowListeners"] = True
    if callback:
        body["statusCallbackUrl"] = callback
    if custom_data:
        body["customData"] = parsing.mapping(custom_data, "--custom-data")
    if fallback:
        body["fallback"] = parsing.mapping(fallback, "--fallback")
    stored = await resources.request("PUT", "route", number, body=body, version=if_version)
    if not resources.is_rest and number.startswith("+"):  # REST rejects numbers of no account
        sys.stderr.write(f"switchroom: {_UNLISTED}\n")
    return shown(stored)


@route.command(alias="get")
@resource_command
async def show(resources: Resources, number: Number) -> Shown:
    """Show the route of a number.

    Example: switchroom route show +4721930000 --output json
    """
    if resources.is_rest:
        found = await resources.request("GET", "route", number)
    else:
        rows = {row["number"]: row["route"] async for row in resources.rows("route")}
        if number not in rows:
            raise UsageError(f"{number} has no route; `switchroom route list` shows all")
        found = rows[number]
    return fields_shown(found)


@route.command(name="rm", alias="remove")
@resource_command
async def remove(
    resources: Resources,
    number: Annotated[
        str, Parameter(help="Dialed number or SIP user; * for the route of all others.")
    ],
) -> Shown:
    """Delete the route of a number.

    Example: switchroom route rm +4721930000
    """
    return await remove_resource(resources, "route", number)


@route.command(name="list")
@resource_command
async def routes(resources: Resources) -> Shown:
    """List the number routes; over the RPC, those of all accounts.

    Example: switchroom route list
    """
    rows = [_flat(row) async for row in resources.rows("route") if row.get("route")]
    columns: list[Column] = [("number", "number"), ("account", "account"), ("action", _action_text)]
    if resources.is_rest:
        del columns[1]
    return rows_shown(rows, columns, NO_ROUTES)


def _flat(row: Row) -> dict[str, Any]:
    return {"number": row["number"], **row["route"]}


def _action(text: str, *, is_rest: bool) -> dict[str, Any]:
    flow_id = text.removeprefix(FLOW_PREFIX)
    if flow_id == text:
        return {"action": parsing.action(text)}
    if is_rest:
        return {"flowId": flow_id}
    return {"action": {"type": "flow", "data": {"flowId": flow_id}}}


def _action_text(row: Row) -> str:
    return f"flow {row['flowId']}" if row.get("flowId") else wording.action(row.get("action"))
