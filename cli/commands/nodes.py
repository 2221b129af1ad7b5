"""`switchroom node` and `switchroom slots`: the PBX nodes and their slots, for operators."""

import asyncio
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console
from rich.text import Text

from cli.adaptive_table import AdaptiveTable
from cli.command import rest_command
from cli.errors import UsageError
from cli.help import with_example
from cli.output import OutputFlag, Shown, shown, write_shown
from cli.rest_client import RestClient
from wire.rpc import Slots

POLL_INTERVAL_S = 1.0
# Engines exchange their call counts twice a second: a call that started on another engine just
# before the drain shows in the second poll.
EMPTY_POLLS = 2

_HEADINGS = ("node", "connected", "calls", "weight", "new calls", "loss", "jitter")
NodeName = Annotated[str, Parameter(help="Name of the PBX node.")]
Node = dict[str, Any]

node = App(name="node", help=with_example("List the PBX nodes; drain or undrain one.", "node list"))

slots = App(
    name="slots", help=with_example("Show or change the number of slots per PBX node.", "slots")
)


@node.command(name="list")
@rest_command
async def list_(rest: RestClient) -> Shown:
    """List the PBX nodes.

    Example: switchroom node list
    """
    found = await _nodes(rest)
    table = AdaptiveTable(_HEADINGS, [_cells(each) for each in found])
    return shown(found, table if found else "no PBX nodes: set SWITCHROOM_NODES")


@node.command
@rest_command
async def drain(
    rest: RestClient,
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
    drained = await rest.request(Node, "POST", "operations", "nodes", node, "drain")
    console.print(f"node {node} gets no new calls")
    if wait:
        drained = await wait_until_empty(rest, node, console)
    write_shown(shown(drained), output)


@node.command
@rest_command
async def undrain(rest: RestClient, node: NodeName) -> Shown:
    """Allow new calls to a node.

    Example: switchroom node undrain pbx1
    """
    view = await rest.request(Node, "POST", "operations", "nodes", node, "undrain")
    return shown(view, f"node {node} gets new calls")


@slots.default
@rest_command
async def change(
    rest: RestClient,
    number: Annotated[int | None, Parameter(help="The new number, 1 to 64.")] = None,
) -> Shown:
    """Show the number of slots per node, or change it while calls are live.

    Example: switchroom slots 8
    """
    notes: list[str] = []
    if number is None:
        found = await rest.request(Slots, "GET", "operations", "slots")
    else:
        found = await rest.request(Slots, "PUT", "operations", "slots", body={"slots": number})
        notes.append("set SWITCHROOM_SLOTS to it before an engine is started again")
    text = f"{found.slots} slots per node get new calls"
    retired = found.highest - found.slots
    notes.append(f"{text}; {retired} end with their calls" if retired > 0 else text)
    return shown(found, *notes)


async def wait_until_empty(
    rest: RestClient, name: str, console: Console, interval_s: float = POLL_INTERVAL_S
) -> Node:
    """Return the node when it had no calls in several polls; print the remaining number."""
    empty_polls, printed = 0, 0
    while True:
        await asyncio.sleep(interval_s)
        node = await _node(rest, name)
        if not node["drained"]:
            raise UsageError(f"node {name} was undrained")
        empty_polls = 0 if node["calls"] else empty_polls + 1
        if node["calls"] and node["calls"] != printed:
            console.print(f"{node['calls']} live calls")
        printed = node["calls"]
        if empty_polls == EMPTY_POLLS:
            console.print(f"node {name} is empty")
            return node


async def _nodes(rest: RestClient) -> list[Node]:
    found = await rest.request(Node, "GET", "operations", "nodes")
    return list(found["data"])


async def _node(rest: RestClient, name: str) -> Node:
    # Without it, the engine has removed the empty node.
    gone = {"name": name, "connected": False, "calls": 0, "drained": True}
    return next((each for each in await _nodes(rest) if each["name"] == name), gone)


def _cells(node: Node) -> tuple[str | Text, ...]:
    connected = Text("yes") if node["connected"] else Text("no", style="red")
    cells = (node["name"], connected, _calls(node), f"{node['weight']:g}", _availability(node))
    return (*cells, *_rtp_quality(node))


def _calls(node: Node) -> str:
    return f"{node['calls']}/{node['maxCalls']}" if node["maxCalls"] else str(node["calls"])


def _availability(node: Node) -> Text:
    """Describe whether the node gets new calls; `drained` comes before other reasons."""
    reason = "drained" if node["drained"] else node["unavailableReason"].replace("_", " ")
    trunk = "" if node["trunkReachable"] else " (trunk unreachable)"
    if node["unregistered"]:
        trunk += f" (not registered as {', '.join(node['unregistered'])})"
    state = (f"no: {reason}", "red") if reason else ("yes", "")
    return Text.assemble(state, trunk)


def _rtp_quality(node: Node) -> tuple[str, str]:
    if not node["amiConnected"]:
        return "", ""
    return f"{node['loss']:.1%}", f"{node['jitterMs']:.0f} ms"
