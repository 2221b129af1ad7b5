"""`switchroom flow`: flows that calls run by their id, and the API requests that they send."""

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

flow = App(name="flow", help="Flows that calls run by their id, and the API requests they send.")
request = App(name="request", help="HTTP requests that flows and status callbacks send.")
flow.command(request)
_print = Console(highlight=False, markup=False).print


@flow.command
def put(
    flow_id: str,
    document: str,
    *,
    account: AccountFlag = "",
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Store a flow's next version: JSON, or @file; a graph of nodes, or an action tree."""
    run(_put(flow_id, document, account, where))


@flow.command
def check(
    flow_id: str,
    document: str,
    *,
    account: AccountFlag = "",
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Say all that is wrong with a flow, and store nothing."""
    run(_check(flow_id, document, account, where))


@flow.command(name="list")
def list_(*, account: AccountFlag = "", where: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """List the flows."""
    run(_list(account, where))


@flow.command(alias="get")
def show(
    flow_id: str,
    *,
    version: Annotated[int, Parameter(help="Default: the newest.")] = 0,
    account: AccountFlag = "",
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Show a flow."""
    run(_show(flow_id, version, account, where))


@flow.command
def versions(
    flow_id: str, *, account: AccountFlag = "", where: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """List the versions of a flow that are kept."""
    run(_versions(flow_id, account, where))


@flow.command
def rm(
    flow_id: str, *, account: AccountFlag = "", where: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Take a flow away; calls that run it go on."""
    run(_remove("flow", ("flows", flow_id), account, where))


@request.command(name="put")
def put_request(
    document: str,
    *,
    id: Annotated[str, Parameter(help="24 digits of 0-9 a-f; a new one by default.")] = "",  # noqa: A002 - the flag
    account: AccountFlag = "",
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Store an API request: JSON, or @file; its id is printed. Secrets left out stay."""
    run(_put_request(id or secrets.token_hex(12), document, account, where))


@request.command(name="list")
def list_requests(
    *, account: AccountFlag = "", where: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """List the API requests."""
    run(_list_requests(account, where))


@request.command(name="show")
def show_request(
    request_id: str, *, account: AccountFlag = "", where: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Show an API request; of its secrets, the names."""
    run(_show_request(request_id, account, where))


@request.command(name="rm")
def remove_request(
    request_id: str, *, account: AccountFlag = "", where: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Take an API request away; flows that send it go their way for failures."""
    run(_remove("API request", ("requests", request_id), account, where))


async def _put(flow_id: str, document: str, account: str, where: ConnectionOptions) -> None:
    path, body = ("flows", flow_id), parsing.action(document, "flow")
    kept = await _asked(rpc.FlowVersion, "PUT", path, account, where, body)
    _print(f"flow {kept.flow_id}, version {kept.version}")


async def _check(flow_id: str, document: str, account: str, where: ConnectionOptions) -> None:
    path, body = ("flows", flow_id, "check"), parsing.action(document, "flow")
    await _asked(dict[str, Any], "POST", path, account, where, body)
    _print(f"flow {flow_id} can be stored")


async def _list(account: str, where: ConnectionOptions) -> None:
    found = await _asked(rpc.Flows, "GET", ("flows",), account, where)
    table = Table("flow", "version", box=None)
    for each in found.flows:
        table.add_row(each.flow_id, str(each.version))
    _print(table if found.flows else "no flows")


async def _show(flow_id: str, version: int, account: str, where: ConnectionOptions) -> None:
    query = {"version": str(version)} if version else {}
    found = await _asked(msgspec.Raw, "GET", ("flows", flow_id), account, where, query=query)
    _json(bytes(found))


async def _versions(flow_id: str, account: str, where: ConnectionOptions) -> None:
    path = ("flows", flow_id, "versions")
    found = await _asked(rpc.FlowVersions, "GET", path, account, where)
    _print(" ".join(map(str, found.versions)))


async def _put_request(
    request_id: str, document: str, account: str, where: ConnectionOptions
) -> None:
    path, body = ("requests", request_id), parsing.mapping(document, "request")
    await _asked(ApiRequestView, "PUT", path, account, where, body)
    _print(request_id)


async def _list_requests(account: str, where: ConnectionOptions) -> None:
    found = await _asked(ApiRequests, "GET", ("requests",), account, where)
    table = Table("id", "name", "method", "url", box=None)
    table.columns[-1].overflow = "fold"
    for each in found.requests:
        table.add_row(each.request_id, each.name, each.method, each.url)
    _print(table if found.requests else "no API requests")


async def _show_request(request_id: str, account: str, where: ConnectionOptions) -> None:
    path = ("requests", request_id)
    _json(bytes(await _asked(msgspec.Raw, "GET", path, account, where)))


async def _remove(kind: str, path: tuple[str, str], account: str, where: ConnectionOptions) -> None:
    settings = ClientSettings()
    group, name = path
    async with open_client(*engine_address(where, settings)) as client:
        await client.remove(kind, name, path_of(group, resolve_account(account, settings), name))


async def _asked(  # noqa: PLR0913, PLR0917 - what is asked, and of whom
    shape: type[T],
    method: str,
    path: tuple[str, ...],
    account: str,
    where: ConnectionOptions,
    body: Any = None,
    query: Mapping[str, str] | None = None,
) -> T:
    settings = ClientSettings()
    whole = path_of(path[0], resolve_account(account, settings), *path[1:])
    async with open_client(*engine_address(where, settings)) as client:
        return await client.request(shape, method, whole, body, query)


def _json(body: bytes) -> None:
    sys.stdout.buffer.write(msgspec.json.format(body) + b"\n")
