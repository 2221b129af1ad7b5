"""`switchroom number`: the numbers of an account, and what calls to them run."""

from typing import Annotated

from cyclopts import App, Parameter

from cli.command import rest_command
from cli.named_commands import with_example
from cli.output import Column, Row, Shown, fields_shown, rows_shown
from cli.rest_client import RestClient
from cli.timeline import wording

number = App(
    name="number",
    help=with_example("Show the numbers of an account with their routes.", "number list"),
)


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
