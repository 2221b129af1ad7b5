"""`switchroom calls`, `timeline` and `nodes`: what there is, and one call's story."""

import asyncio
import sys
import time
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import Console
from rich.live import Live
from rich.table import Table

from engine.cli import screen, words
from engine.cli.client import Client, opened
from engine.cli.faults import run
from engine.cli.where import HERE, ClientSettings, Where, address
from wire.rpc import CallView

AGAIN_S = 1.0


def calls(
    *,
    account: Annotated[str, Parameter(help="Of this account only.")] = "",
    watch: Annotated[bool, Parameter(help="Go on showing them, until Ctrl-C.")] = False,
    where: Where = HERE,
) -> None:
    """List the live calls."""
    run(_calls(account, watch, where))


def timeline(
    call_id: str,
    *,
    json: Annotated[bool, Parameter(help="As the RPC gives it.")] = False,
    where: Where = HERE,
) -> None:
    """Tell a call's story: its legs, verbs, digits and webhooks, each with its time."""
    run(_timeline(call_id, json, where))


def nodes(*, where: Where = HERE) -> None:
    """List the PBX nodes as the engine sees them."""
    run(_nodes(where))


async def _calls(account: str, watch: bool, where: Where) -> None:
    console = screen.for_tables()
    async with opened(*address(where, ClientSettings())) as client:
        if not watch:
            found = await client.calls(account)
            console.print(calls_table(found, time.time() * 1000))
            return
        with Live(console=console, auto_refresh=False) as live:
            await _kept(client, account, live)


async def _kept(client: Client, account: str, live: Live) -> None:
    while True:
        found = await client.calls(account)
        live.update(calls_table(found, time.time() * 1000), refresh=True)
        await asyncio.sleep(AGAIN_S)


async def _timeline(call_id: str, json: bool, where: Where) -> None:
    async with opened(*address(where, ClientSettings())) as client:
        told = await client.timeline(call_id)
    if json:
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(told)) + b"\n")
    else:
        screen.put(told, Console(highlight=False))


async def _nodes(where: Where) -> None:
    async with opened(*address(where, ClientSettings())) as client:
        found = await client.nodes()
    table = Table("node", "connected", "calls", box=None)
    for node in found:
        table.add_row(node.name, "yes" if node.connected else "[red]no[/]", str(node.calls))
    Console(highlight=False).print(table if found else "no PBX nodes: set SWITCHROOM_NODES")


def calls_table(found: tuple[CallView, ...], now_ms: float) -> Table | str:
    """Show calls as a table, the oldest first; `now_ms` in wall-clock milliseconds."""
    if not found:
        return "no live calls"
    table = Table("call", "from", "to", "status", "doing", "age", box=None, pad_edge=False)
    for column in table.columns:
        column.overflow = "fold"
    table.columns[0].no_wrap = True  # to be copied
    for call in sorted(found, key=lambda each: each.created_ms):
        age = words.seconds(now_ms - call.created_ms)
        cells = (call.call_id, call.from_, call.to, call.status, call.doing)
        table.add_row(*cells, age)
    return table
