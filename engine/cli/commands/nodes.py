"""`switchroom nodes`, `nodes drain` and `nodes undrain`: the PBX nodes."""

import asyncio
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from engine.cli.client import Client
from engine.cli.command import client_command
from engine.cli.errors import UsageError
from wire.rpc import NodeView

POLL_INTERVAL_S = 1.0
# Engines exchange their call counts twice a second: a call that started on another engine just
# before the drain shows in the second poll.
EMPTY_POLLS = 2

NodeName = Annotated[str, Parameter(help="Name of the PBX node.")]

nodes = App(name="nodes", help="List the PBX nodes; drain or undrain one.")


@nodes.default
@client_command
async def show(client: Client) -> None:
    """List the PBX nodes as seen by the engine."""
    found = await client.nodes()
    table = Table("node", "connected", "calls", "weight", "new calls", "loss", "jitter", box=None)
    for node in found:
        connected = "yes" if node.connected else "[red]no[/]"
        cells = (node.name, connected, _calls(node), f"{node.weight:g}", _availability(node))
        table.add_row(*cells, *_rtp_quality(node))
    Console(highlight=False).print(table if found else "no PBX nodes: set SWITCHROOM_NODES")


@nodes.command
@client_command
async def drain(
    client: Client,
    node: NodeName,
    *,
    wait: Annotated[
        bool, Parameter(help="Wait until the node has no calls.", negative="--no-wait")
    ] = True,
) -> None:
    """Stop new calls to a node; live calls continue."""
    console = Console(highlight=False)
    await client.request(NodeView, "POST", "nodes", node, "drain")
    console.print(f"node {node} gets no new calls")
    if wait:
        await wait_until_empty(client, node, console)


@nodes.command
@client_command
async def undrain(client: Client, node: NodeName) -> None:
    """Allow new calls to a node."""
    await client.request(NodeView, "POST", "nodes", node, "undrain")
    Console(highlight=False).print(f"node {node} gets new calls")


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
    # The engine removed the empty node.
    return NodeView(name, connected=False, calls=0, drained=True)


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
