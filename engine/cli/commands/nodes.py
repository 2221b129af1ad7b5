"""`switchroom nodes`, `nodes drain` and `nodes undrain`: the PBX nodes."""

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
# Engines exchange their call counts twice a second: a call that started on another engine just
# before the drain shows in the second poll.
EMPTY_POLLS = 2

nodes = App(name="nodes", help="List the PBX nodes; drain or undrain one.")


@nodes.default
def show(*, connection: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """List the PBX nodes as seen by the engine."""
    run(_show(connection))


@nodes.command
def drain(
    node: str,
    *,
    wait: Annotated[
        bool, Parameter(help="Wait until the node has no calls.", negative="--no-wait")
    ] = True,
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Stop new calls to a node; live calls continue."""
    run(_drain(node, wait, connection))


@nodes.command
def undrain(node: str, *, connection: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """Allow new calls to a node."""
    run(_undrain(node, connection))


async def _show(connection: ConnectionOptions) -> None:
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        found = await client.nodes()
    table = Table("node", "connected", "calls", "weight", "new calls", "loss", "jitter", box=None)
    for node in found:
        connected = "yes" if node.connected else "[red]no[/]"
        table.add_row(
            node.name,
            connected,
            _calls(node),
            f"{node.weight:g}",
            _availability(node),
            *_rtp_quality(node),
        )
    Console(highlight=False).print(table if found else "no PBX nodes: set SWITCHROOM_NODES")


async def _drain(name: str, wait: bool, connection: ConnectionOptions) -> None:
    console = Console(highlight=False)
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        await client.drain(name)
        console.print(f"node {name} gets no new calls")
        if wait:
            await wait_until_empty(client, name, console)


async def wait_until_empty(
    client: Client, name: str, console: Console, interval_s: float = POLL_INTERVAL_S
) -> None:
    """Return when a node had no calls in several polls; print the remaining number."""
    empty_polls, printed = 0, 0
    while empty_polls < EMPTY_POLLS:
        await asyncio.sleep(interval_s)
        node = await _node(client, name)
        if not node.drained:
            raise UsageError(f"node {name} was undrained")
        empty_polls = 0 if node.calls else empty_polls + 1
        if node.calls and node.calls != printed:
            console.print(f"{node.calls} live calls")
        printed = node.calls
    console.print(f"node {name} is empty")


async def _node(client: Client, name: str) -> NodeView:
    for node in await client.nodes():
        if node.name == name:
            return node
    return NodeView(
        name, connected=False, calls=0, drained=True
    )  # the engine removed the empty node


async def _undrain(name: str, connection: ConnectionOptions) -> None:
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        await client.undrain(name)
    Console(highlight=False).print(f"node {name} gets new calls")


def _calls(node: NodeView) -> str:
    return f"{node.calls}/{node.max_calls}" if node.max_calls else str(node.calls)


def _availability(node: NodeView) -> str:
    """Describe whether the node gets new calls; `drained` comes before other reasons."""
    reason = "drained" if node.drained else node.unavailable_reason.replace("_", " ")
    trunk = "" if node.trunk_reachable else " (trunk unreachable)"
    if node.unregistered:
        trunk += f" (not registered as {', '.join(node.unregistered)})"
    return f"[red]no: {reason}[/]{trunk}" if reason else f"yes{trunk}"


def _rtp_quality(node: NodeView) -> tuple[str, str]:
    if not node.ami_connected:
        return "", ""
    return f"{node.loss:.1%}", f"{node.jitter_ms:.0f} ms"
