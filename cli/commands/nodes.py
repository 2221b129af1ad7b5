"""`switchroom node list`, `node drain` and `node undrain`: the PBX nodes."""

import asyncio
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console
from rich.text import Text

from cli.adaptive_table import AdaptiveTable
from cli.client import Client
from cli.command import client_command
from cli.errors import UsageError
from cli.named_commands import with_example
from cli.output import OutputFlag, Shown, shown, write_shown
from wire.rpc import NodeView

POLL_INTERVAL_S = 1.0
# Engines exchange their call counts twice a second: a call that started on another engine just
# before the drain shows in the second poll.
EMPTY_POLLS = 2

_HEADINGS = ("node", "connected", "calls", "weight", "new calls", "loss", "jitter")
NodeName = Annotated[str, Parameter(help="Name of the PBX node.")]

node = App(name="node", help=with_example("List the PBX nodes; drain or undrain one.", "node list"))


@node.command(name="list")
@client_command
async def list_(client: Client) -> Shown:
    """List the PBX nodes as seen by the engine.

    Example: switchroom node list
    """
    found = await client.nodes()
    table = AdaptiveTable(_HEADINGS, [_cells(each) for each in found])
    return shown(found, table if found else "no PBX nodes: set SWITCHROOM_NODES")


@node.command
@client_command
async def drain(
    client: Client,
    node: NodeName,
    *,
    wait: Annotated[
        bool, Parameter(help="Wait until the node has no calls.", negative="--no-wait")
    ] = True,
    output: OutputFlag = "table",
) -> None:
    """Stop new calls to a node; live calls continue.

    Example: switchroom node drain pbx1 --no-wait
    """
    console = Console(highlight=False, stderr=output != "table")
    drained = await client.request(NodeView, "POST", "nodes", node, "drain")
    console.print(f"node {node} gets no new calls")
    if wait:
        drained = await wait_until_empty(client, node, console)
    write_shown(shown(drained), output)


@node.command
@client_command
async def undrain(client: Client, node: NodeName) -> Shown:
    """Allow new calls to a node.

    Example: switchroom node undrain pbx1
    """
    view = await client.request(NodeView, "POST", "nodes", node, "undrain")
    return shown(view, f"node {node} gets new calls")


async def wait_until_empty(
    client: Client, name: str, console: Console, interval_s: float = POLL_INTERVAL_S
) -> NodeView:
    """Return the node when it had no calls in several polls; print the remaining number."""
    empty_polls, printed = 0, 0
    while True:
        await asyncio.sleep(interval_s)
        node = await _node(client, name)
        if not node.drained:
            raise UsageError(f"node {name} was undrained")
        empty_polls = 0 if node.calls else empty_polls + 1
        if node.calls and node.calls != printed:
            console.print(f"{node.calls} live calls")
        printed = node.calls
        if empty_polls == EMPTY_POLLS:
            console.print(f"node {name} is empty")
            return node


async def _node(client: Client, name: str) -> NodeView:
    for node in await client.nodes():
        if node.name == name:
            return node
    # The engine removed the empty node.
    return NodeView(name, connected=False, calls=0, drained=True)


def _cells(node: NodeView) -> tuple[str | Text, ...]:
    connected = Text("yes") if node.connected else Text("no", style="red")
    cells = (node.name, connected, _calls(node), f"{node.weight:g}", _availability(node))
    return (*cells, *_rtp_quality(node))


def _calls(node: NodeView) -> str:
    return f"{node.calls}/{node.max_calls}" if node.max_calls else str(node.calls)


def _availability(node: NodeView) -> Text:
    """Describe whether the node gets new calls; `drained` comes before other reasons."""
    reason = "drained" if node.drained else node.unavailable_reason.replace("_", " ")
    trunk = "" if node.trunk_reachable else " (trunk unreachable)"
    if node.unregistered:
        trunk += f" (not registered as {', '.join(node.unregistered)})"
    state = (f"no: {reason}", "red") if reason else ("yes", "")
    return Text.assemble(state, trunk)


def _rtp_quality(node: NodeView) -> tuple[str, str]:
    if not node.ami_connected:
        return "", ""
    return f"{node.loss:.1%}", f"{node.jitter_ms:.0f} ms"
