"""`switchroom nodes`, `nodes drain` and `nodes undrain`: the PBX nodes, and who gets new calls."""

import asyncio
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from engine.cli.client import Client, open_client
from engine.cli.errors import UsageError, run
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    ClientSettings,
    ConnectionOptions,
    engine_address,
)
from wire.rpc import NodeView

POLL_INTERVAL_S = 1.0
# Engines tell each other of their calls twice a second: a call that began elsewhere just before the
# node was drained is seen at the second look.
EMPTY_POLLS = 2

nodes = App(name="nodes", help="Show the PBX nodes; drain one, or give it new calls again.")


@nodes.default
def show(*, where: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """List the PBX nodes as the engine sees them."""
    run(_show(where))


@nodes.command
def drain(
    node: str,
    *,
    wait: Annotated[bool, Parameter(help="Return when it is empty.", negative="--no-wait")] = True,
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Give a node no new call; its live ones end by themselves."""
    run(_drain(node, wait, where))


@nodes.command
def undrain(node: str, *, where: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """Give a node new calls again."""
    run(_undrain(node, where))


async def _show(where: ConnectionOptions) -> None:
    async with open_client(*engine_address(where, ClientSettings())) as client:
        found = await client.nodes()
    table = Table("node", "connected", "calls", "weight", "new calls", "loss", "jitter", box=None)
    for node in found:
        connected = "yes" if node.connected else "[red]no[/]"
        table.add_row(
            node.name, connected, _calls(node), f"{node.weight:g}", _news(node), *_heard(node)
        )
    Console(highlight=False).print(table if found else "no PBX nodes: set SWITCHROOM_NODES")


async def _drain(name: str, wait: bool, where: ConnectionOptions) -> None:
    console = Console(highlight=False)
    async with open_client(*engine_address(where, ClientSettings())) as client:
        await client.drain(name)
        console.print(f"node {name} gets no new calls")
        if wait:
            await wait_until_empty(client, name, console)


async def wait_until_empty(
    client: Client, name: str, console: Console, again_s: float = POLL_INTERVAL_S
) -> None:
    """Return when a node has had no call for some looks; says how many there still are."""
    looks, told = 0, 0
    while looks < EMPTY_POLLS:
        await asyncio.sleep(again_s)
        node = await _node(client, name)
        if not node.drained:
            raise UsageError(f"node {name} was given new calls again")
        looks = 0 if node.calls else looks + 1
        if node.calls and node.calls != told:
            console.print(f"{node.calls} live calls")
        told = node.calls
    console.print(f"node {name} is empty")


async def _node(client: Client, name: str) -> NodeView:
    for node in await client.nodes():
        if node.name == name:
            return node
    return NodeView(name, connected=False, calls=0, drained=True)  # closed, as it was empty


async def _undrain(name: str, where: ConnectionOptions) -> None:
    async with open_client(*engine_address(where, ClientSettings())) as client:
        await client.undrain(name)
    Console(highlight=False).print(f"node {name} gets new calls")


def _row(node: NodeView) -> tuple[str, ...]:
    connected = "yes" if node.connected else "[red]no[/]"
    return node.name, connected, _calls(node), f"{node.weight:g}", _news(node), *_heard(node)


def _calls(node: NodeView) -> str:
    return f"{node.calls}/{node.max_calls}" if node.max_calls else str(node.calls)


def _news(node: NodeView) -> str:
    """Say whether it gets new calls; a drained one is told as such, whatever else it is."""
    reason = "drained" if node.drained else node.unavailable_reason.replace("_", " ")
    trunk = "" if node.trunk_reachable else " (trunk unreachable)"
    if node.unregistered:
        trunk += f" (not registered as {', '.join(node.unregistered)})"
    return f"[red]no: {reason}[/]{trunk}" if reason else f"yes{trunk}"


def _heard(node: NodeView) -> tuple[str, str]:
    if not node.ami_connected:
        return "", ""
    return f"{node.loss:.1%}", f"{node.jitter_ms:.0f} ms"
