"""`switchroom request`: the API requests that flows and status callbacks send."""

import secrets
from typing import Annotated

from cyclopts import App, Parameter

from cli.command import IfVersion, rest_command
from cli.help import with_example
from cli.options import parsing
from cli.output import Shown, json_shown, rows_shown, shown
from cli.rest_client import RestClient

RequestId = Annotated[str, Parameter(help="API request id: 24 hex digits.")]

request = App(
    name="request",
    help=with_example("Manage HTTP requests that flows and status callbacks send.", "request list"),
)


@request.command
@rest_command
async def put(
    rest: RestClient,
    document: Annotated[str, Parameter(help="JSON or @file.")],
    *,
    id: Annotated[str, Parameter(help="24 hex digits; default: a new id.")] = "",  # noqa: A002 - the flag
    if_version: IfVersion = None,
) -> Shown:
    """Store an API request from JSON or @file and print its id.

    Omitted secrets are kept, unless scheme, host or port of the address change.

    Example: switchroom request put @lookup.json
    """
    request_id, body = id or secrets.token_hex(12), parsing.mapping(document, "request")
    stored = await rest.tagged(
        "PUT", "voice", "requests", request_id, body=body, version=if_version
    )
    return shown(stored, request_id)


@request.command(name="list")
@rest_command
async def list_(rest: RestClient) -> Shown:
    """List the API requests.

    Example: switchroom request list
    """
    rows = [each async for each in rest.rows("voice", "requests")]
    columns = [("id", "requestId"), ("name", "name"), ("method", "method"), ("url", "url")]
    return rows_shown(rows, columns, "no API requests")


@request.command(alias="get")
@rest_command
async def show(rest: RestClient, request_id: RequestId) -> Shown:
    """Show an API request with the names of its secrets.

    Example: switchroom request show 0123456789abcdef01234567
    """
    return json_shown(await rest.tagged("GET", "voice", "requests", request_id))


@request.command(name="rm", alias="remove")
@rest_command
async def remove(rest: RestClient, request_id: RequestId) -> Shown:
    """Delete an API request; flows that send it take their failure branch.

    Example: switchroom request rm 0123456789abcdef01234567
    """
    path = ("voice", "requests", request_id)
    return shown(await rest.remove("API request", request_id, *path))
