"""`switchroom calls` and `timeline`: what there is, and one call's story."""

import sys
import time
from contextlib import AsyncExitStack
from functools import partial
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from engine.cli.client import open_client
from engine.cli.errors import run
from engine.cli.live.follow import CallFollower
from engine.cli.live.table import CallTable, render
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    ClientSettings,
    ConnectionOptions,
    engine_address,
    engine_addresses,
)
from engine.cli.timeline import screen, wording
from wire.views import CallView


def calls(
    *,
    account: Annotated[str, Parameter(help="Of this account only.")] = "",
    watch: Annotated[bool, Parameter(help="Go on showing them, until Ctrl-C.")] = False,
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """List the live calls.

    To watch them through the death of an engine, name several by --url, with commas between.
    """
    run(_calls(account, watch, where))


def timeline(
    call_id: str,
    *,
    json: Annotated[bool, Parameter(help="As the RPC gives it.")] = False,
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Tell a call's story: its legs, verbs, digits and webhooks, each with its time."""
    run(_timeline(call_id, json, where))


async def _calls(account: str, watch: bool, where: ConnectionOptions) -> None:
    console = screen.table_console()
    if watch:
        await _watched(account, where, console)
        return
    async with open_client(*engine_address(where, ClientSettings())) as client:
        console.print(calls_table(await client.calls(account), time.time() * 1000))


async def _watched(account: str, where: ConnectionOptions, console: Console) -> None:
    board = CallTable()
    async with AsyncExitStack() as house:
        known = engine_addresses(where, ClientSettings())
        clients = [await house.enter_async_context(open_client(*each)) for each in known]
        following = CallFollower(clients, account, board)
        show = partial(_drawn, board)
        house.enter_context(Live(console=console, get_renderable=show, refresh_per_second=2))
        await following.run()


def _drawn(board: CallTable) -> Group:
    return render(board, time.time() * 1000)


async def _timeline(call_id: str, json: bool, where: ConnectionOptions) -> None:
    async with open_client(*engine_address(where, ClientSettings())) as client:
        told = await client.timeline(call_id)
    if json:
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(told)) + b"\n")
    else:
        screen.print_timeline(told, Console(highlight=False))


def calls_table(found: tuple[CallView, ...], now_ms: float) -> Table | str:
    """Show calls as a table, the oldest first; `now_ms` in wall-clock milliseconds."""
    if not found:
        return "no live calls"
    table = Table("call", "from", "to", "status", "state", "age", box=None, pad_edge=False)
    for column in table.columns:
        column.overflow = "fold"
    table.columns[0].no_wrap = True  # to be copied
    for call in sorted(found, key=lambda each: each.created_ms):
        age = wording.seconds(now_ms - call.created_ms)
        cells = (call.call_id, call.from_, call.to, call.status, call.state)
        table.add_row(*cells, age)
    return table
