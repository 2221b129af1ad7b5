"""`switchroom flow`: stored flows, and the API requests that they send."""

import secrets
import sys
from typing import Annotated, Any

import msgspec
from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from engine.cli.client import Client
from engine.cli.command import account_command
from engine.cli.options import parsing
from wire import rpc
from wire.request import ApiRequests, ApiRequestView

FlowId = Annotated[str, Parameter(help="Flow id.")]
FlowDocument = Annotated[str, Parameter(help="JSON, @file, or a webhook URL.")]
RequestId = Annotated[str, Parameter(help="API request id: 24 hex digits.")]

flow = App(name="flow", help="Manage flows and the API requests that they send.")
request = App(name="request", help="Manage HTTP requests that flows and status callbacks send.")
flow.command(request)
_print = Console(highlight=False, markup=False).print


@flow.command
@account_command
async def put(client: Client, account: str, flow_id: FlowId, document: FlowDocument) -> None:
    """Store a new version of a flow from JSON or @file: a graph of nodes or an action tree."""
    body = parsing.action(document, "flow")
    stored = await client.request(rpc.FlowVersion, "PUT", "flows", account, flow_id, body=body)
    _print(f"flow {stored.flow_id}, version {stored.version}")


@flow.command
@account_command
async def check(client: Client, account: str, flow_id: FlowId, document: FlowDocument) -> None:
    """Validate a flow without storing it."""
    path, body = ("flows", account, flow_id, "check"), parsing.action(document, "flow")
    await client.request(dict[str, Any], "POST", *path, body=body)
    _print(f"flow {flow_id} is valid")


@flow.command(name="list")
@account_command
async def list_(client: Client, account: str) -> None:
    """List the flows."""
    found = await client.request(rpc.Flows, "GET", "flows", account)
    table = Table("flow", "version", box=None)
    for each in found.flows:
        table.add_row(each.flow_id, str(each.version))
    _print(table if found.flows else "no flows")


@flow.command(alias="get")
@account_command
async def show(
    client: Client,
    account: str,
    flow_id: FlowId,
    *,
    version: Annotated[int, Parameter(help="Version; default: the newest.")] = 0,
) -> None:
    """Show a flow."""
    query = {"version": str(version)} if version else {}
    _json(await client.request(msgspec.Raw, "GET", "flows", account, flow_id, query=query))


@flow.command
@account_command
async def versions(client: Client, account: str, flow_id: FlowId) -> None:
    """List the stored versions of a flow."""
    path = ("flows", account, flow_id, "versions")
    found = await client.request(rpc.FlowVersions, "GET", *path)
    _print(" ".join(map(str, found.versions)))


@flow.command
@account_command
async def rm(client: Client, account: str, flow_id: FlowId) -> None:
    """Delete a flow; calls that run it continue."""
    await client.remove("flow", flow_id, "flows", account, flow_id)


@request.command(name="put")
@account_command
async def put_request(
    client: Client,
    account: str,
    document: Annotated[str, Parameter(help="JSON or @file.")],
    *,
    id: Annotated[str, Parameter(help="24 hex digits; default: a new id.")] = "",  # noqa: A002 - the flag
) -> None:
    """Store an API request from JSON or @file and print its id; omitted secrets are kept."""
    request_id, body = id or secrets.token_hex(12), parsing.mapping(document, "request")
    await client.request(ApiRequestView, "PUT", "requests", account, request_id, body=body)
    _print(request_id)


@request.command(name="list")
@account_command
async def list_requests(client: Client, account: str) -> None:
    """List the API requests."""
    found = await client.request(ApiRequests, "GET", "requests", account)
    table = Table("id", "name", "method", "url", box=None)
    table.columns[-1].overflow = "fold"
    for each in found.requests:
        table.add_row(each.request_id, each.name, each.method, each.url)
    _print(table if found.requests else "no API requests")


@request.command(name="show")
@account_command
async def show_request(client: Client, account: str, request_id: RequestId) -> None:
    """Show an API request with the names of its secrets."""
    _json(await client.request(msgspec.Raw, "GET", "requests", account, request_id))


@request.command(name="rm")
@account_command
async def remove_request(client: Client, account: str, request_id: RequestId) -> None:
    """Delete an API request; flows that send it take their failure branch."""
    await client.remove("API request", request_id, "requests", account, request_id)


def _json(body: msgspec.Raw) -> None:
    sys.stdout.buffer.write(msgspec.json.format(bytes(body)) + b"\n")
