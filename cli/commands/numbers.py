"""`switchroom number` and `route`: the numbers of an account, and what calls to them run."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from base.timeline import wording
from cli.command import IfVersion, rest_command
from cli.help import with_example
from cli.options import parsing
from cli.output import Column, Row, Shown, fields_shown, rows_shown, shown
from cli.rest_client import RestClient

number = App(
    name="number",
    help=with_example("Show the numbers of an account with their routes.", "number list"),
)
Number = Annotated[str, Parameter(help="Number of the account, such as +4721930000.")]
FLOW_PREFIX = "flow:"
NO_ROUTES = "no routes: inbound calls are rejected"
route = App(name="route", help=with_example("Manage what calls to a number run.", "route list"))


@number.command(name="list")
@rest_command
async def list_(rest: RestClient) -> Shown:
    """List the numbers of the account with their routes.

    Example: switchroom number list --output yaml
    """
    rows = [each async for each in rest.rows("voice", "numbers")]
    columns: list[Column] = [("number", "number"), ("route", _route), ("changed", "changedTime")]
    return rows_shown(rows, columns, "no numbers: an operator adds them to the account")


@number.command(alias="get")
@rest_command
async def show(
    rest: RestClient,
    number: Annotated[str, Parameter(help="Number in E.164, such as +4721930000.")],
) -> Shown:
    """Show a number with its route.

    Example: switchroom number show +4721930000
    """
    return fields_shown(await rest.request(dict[str, object], "GET", "voice", "numbers", number))


def _route(row: Row) -> str:
    route = row.get("route")
    if not route:
        return ""
    return f"flow {route['flowId']}" if route.get("flowId") else wording.action(route.get("action"))


@route.command(name="set")
@rest_command
async def put(  # noqa: PLR0913 - one parameter per option
    rest: RestClient,
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
) -> Shown:
    """Set the action of inbound calls to a number.

    Example: switchroom route set +4721930000 flow:menu --record
    """
    body: dict[str, Any] = _action(action)
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
    return shown(await rest.tagged("PUT", *_path(number), body=body, version=if_version))


@route.command(name="show", alias="get")
@rest_command
async def show_route(rest: RestClient, number: Number) -> Shown:
    """Show the route of a number.

    Example: switchroom route show +4721930000 --output json
    """
    return fields_shown(await rest.tagged("GET", *_path(number)))


@route.command(name="rm", alias="remove")
@rest_command
async def remove(rest: RestClient, number: Number) -> Shown:
    """Delete the route of a number.

    Example: switchroom route rm +4721930000
    """
    return shown(await rest.remove("route", number, *_path(number)))


@route.command(name="list")
@rest_command
async def routes(rest: RestClient) -> Shown:
    """List the numbers that have a route.

    Example: switchroom route list
    """
    rows = [_flat(row) async for row in rest.rows("voice", "numbers") if row.get("route")]
    return rows_shown(rows, (("number", "number"), ("action", _action_text)), NO_ROUTES)


def _path(number: str) -> tuple[str, ...]:
    return "voice", "numbers", number, "route"


def _flat(row: Row) -> dict[str, Any]:
    return {"number": row["number"], **row["route"]}


def _action(text: str) -> dict[str, Any]:
    flow_id = text.removeprefix(FLOW_PREFIX)
    return {"action": parsing.action(text)} if flow_id == text else {"flowId": flow_id}


def _action_text(row: Row) -> str:
    return f"flow {row['flowId']}" if row.get("flowId") else wording.action(row.get("action"))
