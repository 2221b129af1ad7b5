"""`switchroom flow`: stored flows, and the API requests that they send."""

import secrets
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from engine.cli.client import T, open_client, path_of
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
from wire import rpc
from wire.request import ApiRequests, ApiRequestView

flow = App(name="flow", help="Manage flows and the API requests that they send.")
request = App(name="request", help="Manage HTTP requests that flows and status callbacks send.")
flow.command(request)
_print = Console(highlight=False, markup=False).print


@flow.command
def put(
    flow_id: str,
    document: str,
    *,
    account: AccountFlag = "",
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Store a new version of a flow from JSON or @file: a graph of nodes or an action tree."""
    run(_put(flow_id, document, account, connection))


@flow.command
def check(
    flow_id: str,
    document: str,
    *,
    account: AccountFlag = "",
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Validate a flow without storing it."""
    run(_check(flow_id, document, account, connection))


@flow.command(name="list")
def list_(*, account: AccountFlag = "", connection: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """List the flows."""
    run(_list(account, connection))


@flow.command(alias="get")
def show(
    flow_id: str,
    *,
    version: Annotated[int, Parameter(help="Version; default: the newest.")] = 0,
    account: AccountFlag = "",
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Show a flow."""
    run(_show(flow_id, version, account, connection))


@flow.command
def versions(
    flow_id: str, *, account: AccountFlag = "", connection: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """List the stored versions of a flow."""
    run(_versions(flow_id, account, connection))


@flow.command
def rm(
    flow_id: str, *, account: AccountFlag = "", connection: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Delete a flow; calls that run it continue."""
    run(_remove("flow", ("flows", flow_id), account, connection))


@request.command(name="put")
def put_request(
    document: str,
    *,
    id: Annotated[str, Parameter(help="24 hex digits; default: a new id.")] = "",  # noqa: A002 - the flag
    account: AccountFlag = "",
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Store an API request from JSON or @file and print its id; omitted secrets are kept."""
    run(_put_request(id or secrets.token_hex(12), document, account, connection))


@request.command(name="list")
def list_requests(
    *, account: AccountFlag = "", connection: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """List the API requests."""
    run(_list_requests(account, connection))


@request.command(name="show")
def show_request(
    request_id: str,
    *,
    account: AccountFlag = "",
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Show an API request with the names of its secrets."""
    run(_show_request(request_id, account, connection))


@request.command(name="rm")
def remove_request(
    request_id: str,
    *,
    account: AccountFlag = "",
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Delete an API request; flows that send it take their failure branch."""
    run(_remove("API request", ("requests", request_id), account, connection))


async def _put(flow_id: str, document: str, account: str, connection: ConnectionOptions) -> None:
    path, body = ("flows", flow_id), parsing.action(document, "flow")
    stored = await _request(rpc.FlowVersion, "PUT", path, account, connection, body)
    _print(f"flow {stored.flow_id}, version {stored.version}")


async def _check(flow_id: str, document: str, account: str, connection: ConnectionOptions) -> None:
    path, body = ("flows", flow_id, "check"), parsing.action(document, "flow")
    await _request(dict[str, Any], "POST", path, account, connection, body)
    _print(f"flow {flow_id} is valid")


async def _list(account: str, connection: ConnectionOptions) -> None:
    found = await _request(rpc.Flows, "GET", ("flows",), account, connection)
    table = Table("flow", "version", box=None)
    for each in found.flows:
        table.add_row(each.flow_id, str(each.version))
    _print(table if found.flows else "no flows")


async def _show(flow_id: str, version: int, account: str, connection: ConnectionOptions) -> None:
    query = {"version": str(version)} if version else {}
    found = await _request(msgspec.Raw, "GET", ("flows", flow_id), account, connection, query=query)
    _json(bytes(found))


async def _versions(flow_id: str, account: str, connection: ConnectionOptions) -> None:
    path = ("flows", flow_id, "versions")
    found = await _request(rpc.FlowVersions, "GET", path, account, connection)
    _print(" ".join(map(str, found.versions)))


async def _put_request(
    request_id: str, document: str, account: str, connection: ConnectionOptions
) -> None:
    path, body = ("requests", request_id), parsing.mapping(document, "request")
    await _request(ApiRequestView, "PUT", path, account, connection, body)
    _print(request_id)


async def _list_requests(account: str, connection: ConnectionOptions) -> None:
    found = await _request(ApiRequests, "GET", ("requests",), account, connection)
    table = Table("id", "name", "method", "url", box=None)
    table.columns[-1].overflow = "fold"
    for each in found.requests:
        table.add_row(each.request_id, each.name, each.method, each.url)
    _print(table if found.requests else "no API requests")


async def _show_request(request_id: str, account: str, connection: ConnectionOptions) -> None:
    path = ("requests", request_id)
    _json(bytes(await _request(msgspec.Raw, "GET", path, account, connection)))


async def _remove(
    kind: str, path: tuple[str, str], account: str, connection: ConnectionOptions
) -> None:
    settings = ClientSettings()
    group, name = path
    async with open_client(*engine_address(connection, settings)) as client:
        await client.remove(kind, name, path_of(group, resolve_account(account, settings), name))


async def _request(  # noqa: PLR0913, PLR0917 - the request and its engine
    shape: type[T],
    method: str,
    path: tuple[str, ...],
    account: str,
    connection: ConnectionOptions,
    body: Any = None,
    query: Mapping[str, str] | None = None,
) -> T:
    settings = ClientSettings()
    full_path = path_of(path[0], resolve_account(account, settings), *path[1:])
    async with open_client(*engine_address(connection, settings)) as client:
        return await client.request(shape, method, full_path, body, query)


def _json(body: bytes) -> None:
    sys.stdout.buffer.write(msgspec.json.format(body) + b"\n")
