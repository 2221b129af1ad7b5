"""`switchroom call list` and `call timeline`: the live calls, and the timeline of one call."""

import time
from contextlib import AsyncExitStack
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from engine.cli.calls import Calls, RestCalls
from engine.cli.client import Client, open_client
from engine.cli.command import client_command
from engine.cli.errors import UsageError, run
from engine.cli.live.follow import CallFollower
from engine.cli.live.table import CallTable, render
from engine.cli.options.channel_names import CallId
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    ConnectionOptions,
    client_settings,
    engine_address,
    engine_addresses,
)
from engine.cli.rest_client import open_rest
from engine.cli.timeline import screen, wording
from wire.programs.output import OutputFlag, OutputFormat, Shown, shown, write_shown
from wire.views import CallView, Timeline


def calls(
    *,
    account: Annotated[str, Parameter(help="Only calls of this account.")] = "",
    watch: Annotated[bool, Parameter(help="Keep the list current until Ctrl-C.")] = False,
    ended: Annotated[
        int, Parameter(help="Print the ids of this many of the latest ended calls instead.")
    ] = 0,
    connection: ConnectionOptions = DEFAULT_CONNECTION,
    output: OutputFlag = "table",
) -> None:
    """List the live calls, or the ids of ended ones.

    With several engines in --url, separated by commas, --watch survives the loss of one.

    Example: switchroom call list --output json
    """
    run(
        _ended(account, ended, watch, connection, output)
        if ended
        else _calls(account, watch, connection, output)
    )


@client_command
async def timeline(
    client: Client, call_id: CallId, *, json: Annotated[bool, Parameter(help="Raw JSON.")] = False
) -> Shown | None:
    """Show a call's legs, verbs, digits and webhooks as a ladder diagram with times.

    Example: switchroom call timeline 3-pbx1-7f3a
    """
    view = await client.timeline(call_id)
    if not json:
        return _drawn(view)
    write_shown(shown(view), "json")
    return None


def _drawn(view: Timeline) -> Shown:
    return shown(view, Group(*screen.ladder(view, Console(highlight=False))))


async def _calls(
    account: str, watch: bool, connection: ConnectionOptions, output: OutputFormat
) -> None:
    settings = client_settings(connection)
    if watch:
        await _watch(account, connection, screen.table_console())
        return
    if settings.has_api and not connection.url:
        await _list(RestCalls(open_rest(settings)), account, output)
        return
    async with open_client(*engine_address(connection, settings)) as client:
        await _list(client, account, output)


async def _list(source: Calls, account: str, output: OutputFormat) -> None:
    found = await source.calls(account)
    write_shown(shown(found, calls_table(found, time.time() * 1000)), output)


async def _ended(
    account: str, limit: int, watch: bool, connection: ConnectionOptions, output: OutputFormat
) -> None:
    if watch or limit < 0:
        raise UsageError("--ended takes a number of calls, and excludes --watch")
    async with open_client(*engine_address(connection, client_settings(connection))) as client:
        found = await client.ended_calls(limit, account)
    write_shown(shown(found, *found), output)


async def _watch(account: str, connection: ConnectionOptions, console: Console) -> None:
    table = CallTable()
    async with AsyncExitStack() as stack:
        engines = engine_addresses(connection, client_settings(connection))
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
