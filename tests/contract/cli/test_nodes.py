"""`switchroom node` and `slots`: the list of nodes, a drain that waits, and slots."""

from collections import deque
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from rich.console import Console

from api.operations.schemas import NodeView
from cli.commands.nodes import wait_until_empty
from cli.errors import UsageError
from tests.contract.cli.fake_rest import FakeRest

NODES = "GET /operations/nodes"


def view(name: str = "pbx1", **more: Any) -> dict[str, Any]:
    """Return a node as the REST layer shows it."""
    usual: dict[str, Any] = {
        "connected": True, "calls": 0, "drained": False, "unavailable_reason": "", "weight": 1,
        "max_calls": None, "max_calls_per_s": None, "ami_connected": False,
        "trunk_reachable": True, "unregistered": (), "core_calls": None, "loss": 0,
        "jitter_ms": 0,
    }  # fmt: skip
    found: dict[str, Any] = to_builtins(NodeView(name, **(usual | more)))
    return found


def listed(*nodes: dict[str, Any]) -> dict[str, Any]:
    """Return a list of nodes."""
    return {"data": nodes, "total": len(nodes)}


def drained(calls: int) -> dict[str, Any]:
    """Return the list of a drained node with this number of calls."""
    return listed(view(calls=calls, drained=True))


async def waited(rest: FakeRest) -> list[str]:
    """Wait until pbx1 is empty; return what was printed."""
    console = Console(record=True, width=100)
    await wait_until_empty(rest.client, "pbx1", console, interval_s=0.001)
    return console.export_text().splitlines()


async def test_nodes_are_listed(tmp_path: Path) -> None:
    """The list has calls of all engines, limits, whether a node gets new calls, and RTP quality."""
    first = view(calls=3, weight=3, max_calls=20, ami_connected=True, loss=0.012, jitter_ms=7.4)
    second = view(
        "pbx2",
        connected=False,
        drained=True,
        unavailable_reason="no_node",
        trunk_reachable=False,
    )
    async with FakeRest() as rest:
        rest.responses = {NODES: listed(first, second)}
        status, out, _ = await rest.run(tmp_path, "node", "list")
    rows = [line.split() for line in out.splitlines()]
    assert status == 0
    assert rows[1] == ["pbx1", "yes", "3/20", "3", "yes", "1.2%", "7", "ms"]
    assert rows[2] == ["pbx2", "no", "0", "1", "no:", "drained", "(trunk", "unreachable)"]


async def test_a_drain_that_does_not_wait(tmp_path: Path) -> None:
    """With --no-wait a drain returns after the request; undrain does, too."""
    async with FakeRest() as rest:
        _, drained, _ = await rest.run(tmp_path, "node", "drain", "pbx1", "--no-wait")
        _, undrained, _ = await rest.run(tmp_path, "node", "undrain", "pbx1")
    assert (drained, undrained) == ("node pbx1 gets no new calls\n", "node pbx1 gets new calls\n")
    sent = [(each.method, each.path) for each in rest.requests]
    path = "/operations/nodes/pbx1"
    assert sent == [("POST", f"{path}/drain"), ("POST", f"{path}/undrain")]


async def test_a_drain_waits_until_the_node_is_empty() -> None:
    """The number of live calls is printed; a node is empty after two polls without a call."""
    polls = deque(map(drained, (2, 2, 1, 0, 1, 0, 0, 9)))
    async with FakeRest() as rest:
        rest.responses = {NODES: polls}
        assert await waited(rest) == [
            "2 live calls", "1 live calls", "1 live calls", "node pbx1 is empty",
        ]  # fmt: skip
    assert len(polls) == 1


async def test_a_node_that_was_closed_is_empty() -> None:
    """A node that has left the DNS is unknown, so it has no calls."""
    async with FakeRest() as rest:
        rest.responses = {NODES: listed()}
        assert await waited(rest) == ["node pbx1 is empty"]


async def test_a_drain_that_is_taken_back_ends() -> None:
    """The wait fails when somebody undrains the node, because it would never be empty."""
    async with FakeRest() as rest:
        rest.responses = {NODES: deque([drained(2), listed(view(calls=2))])}
        with pytest.raises(UsageError, match="was undrained"):
            await waited(rest)


async def test_slots_are_shown_and_changed(tmp_path: Path) -> None:
    """A change says what to set."""
    async with FakeRest() as rest:
        rest.default = {"slots": 2, "highest": 2}
        assert (await rest.run(tmp_path, "slots")).out == "2 slots per node get new calls\n"
        rest.default = {"slots": 1, "highest": 2}
        _, out, _ = await rest.run(tmp_path, "slots", "1")
    assert "SWITCHROOM_SLOTS" in out
    assert "1 slots per node get new calls; 1 end with their calls" in out
    assert rest.typed[-1] == ("PUT", "/operations/slots", {"slots": 1})
