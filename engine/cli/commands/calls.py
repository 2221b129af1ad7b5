"""`switchroom calls` and `timeline`: the live calls, and the timeline of one call."""

import sys
import time
from contextlib import AsyncExitStack
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from engine.cli import call_view
from engine.cli.client import Client, open_client
from engine.cli.command import client_command
from engine.cli.errors import UsageError, run
from engine.cli.live.follow import CallFollower
from engine.cli.live.table import CallTable, render
from engine.cli.options.channel_names import CallId
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    ClientSettings,
    ConnectionOptions,
    engine_address,
    engine_addresses,
)
from engine.cli.timeline import screen, wording
from wire.settings import load
from wire.views import CallView


def calls(
    *,
    account: Annotated[str, Parameter(help="Only calls of this account.")] = "",
    watch: Annotated[bool, Parameter(help="Keep the list current until Ctrl-C.")] = False,
    ended: Annotated[
        int, Parameter(help="Print the ids of this many of the latest ended calls instead.")
    ] = 0,
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """List the live calls, or the ids of ended ones.

    With several engines in --url, separated by commas, --watch survives the loss of one.
    """
    run(_ended(account, ended, watch, connection) if ended else _calls(account, watch, connection))


@client_command
async def timeline(
    client: Client, call_id: CallId, *, json: Annotated[bool, Parameter(help="Raw JSON.")] = False
) -> None:
    """Show a call's legs, verbs, digits and webhooks as a ladder diagram with times."""
    view = await client.timeline(call_id)
    if json:
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(view)) + b"\n")
    else:
        screen.print_timeline(view, Console(highlight=False))


async def _calls(account: str, watch: bool, connection: ConnectionOptions) -> None:
    console = screen.table_console()
    if watch:
        await _watch(account, connection, console)
        return
    async with open_client(*engine_address(connection, load(ClientSettings))) as client:
        console.print(calls_table(await client.calls(account), time.time() * 1000))


async def _ended(account: str, limit: int, watch: bool, connection: ConnectionOptions) -> None:
    if watch or limit < 0:
        raise UsageError("--ended takes a number of calls, and excludes --watch")
    async with open_client(*engine_address(connection, load(ClientSettings))) as client:
        call_view.write(*await client.ended_calls(limit, account))


async def _watch(account: str, connection: ConnectionOptions, console: Console) -> None:
    table = CallTable()
    async with AsyncExitStack() as stack:
        engines = engine_addresses(connection, load(ClientSettings))
        clients = [await stack.enter_async_context(open_client(*each)) for each in engines]
        follower = CallFollower(clients, account, table)

        def show() -> Group:
            return render(table, time.time() * 1000)

        stack.enter_context(Live(console=console, get_renderable=show, refresh_per_second=2))
        await follower.run()


def calls_table(views: tuple[CallView, ...], now_ms: float) -> Table | str:
    """Return a table of calls, the oldest first; `now_ms` is wall-clock time."""
    if not views:
        return "no live calls"
    table = screen.id_table("call", "from", "to", "status", "state", "age")
    for call in sorted(views, key=lambda each: each.created_ms):
        age = wording.seconds(now_ms - call.created_ms)
        table.add_row(call.call_id, call.from_, call.to, call.status, call.state, age)
    return table
