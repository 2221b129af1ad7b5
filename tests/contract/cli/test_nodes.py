"""`switchroom node`: the list of nodes, and a drain that waits."""

from pathlib import Path

import pytest
from rich.console import Console

from cli.client import open_client
from cli.commands.nodes import wait_until_empty
from cli.errors import UsageError
from tests.contract.cli.command import switchroom
from tests.contract.cli.fake_engine import TOKEN, FakeEngine
from wire.rpc import NodeView


def drained(calls: int) -> tuple[NodeView, ...]:
    """Return a drained node with this number of calls."""
    return (NodeView("pbx1", True, calls, drained=True),)


async def waited(engine: FakeEngine) -> list[str]:
    """Wait until pbx1 is empty; return what was printed."""
    console = Console(record=True, width=100)
    async with open_client(engine.url(), TOKEN) as client:
        await wait_until_empty(client, "pbx1", console, interval_s=0.001)
    return console.export_text().splitlines()


async def test_nodes_are_listed(tmp_path: Path) -> None:
    """The list has calls of all engines, limits, whether a node gets new calls, and RTP quality."""
    async with FakeEngine() as engine:
        status, out, _ = await switchroom(tmp_path, engine.url(), "node", "list")
    rows = [line.split() for line in out.splitlines()]
    assert status == 0
    assert rows[1] == ["pbx1", "yes", "3/20", "3", "yes", "1.2%", "7", "ms"]
    assert rows[2] == ["pbx2", "no", "0", "1", "no:", "drained", "(trunk", "unreachable)"]


async def test_a_drain_that_does_not_wait(tmp_path: Path) -> None:
    """With --no-wait a drain returns after the request; undrain does, too."""
    async with FakeEngine() as engine:
        _, out, _ = await switchroom(tmp_path, engine.url(), "node", "drain", "pbx1", "--no-wait")
        assert out == "node pbx1 gets no new calls\n"
        _, out, _ = await switchroom(tmp_path, engine.url(), "node", "undrain", "pbx1")
        assert out == "node pbx1 gets new calls\n"
    body = [(method, path) for method, path, _ in engine.requests]
    assert body == [("POST", "nodes/pbx1/drain"), ("POST", "nodes/pbx1/undrain")]


async def test_a_drain_waits_until_the_node_is_empty() -> None:
    """The number of live calls is printed; a node is empty after two polls without a call."""
    async with FakeEngine() as engine:
        engine.nodes = [drained(each) for each in (2, 2, 1, 0, 1, 0, 0, 9)]
        assert await waited(engine) == [
            "2 live calls", "1 live calls", "1 live calls", "node pbx1 is empty",
        ]  # fmt: skip
        assert len(engine.nodes) == 1


async def test_a_node_that_was_closed_is_empty() -> None:
    """A node that has left the DNS is unknown, so it has no calls."""
    async with FakeEngine() as engine:
        engine.nodes = [()]
        assert await waited(engine) == ["node pbx1 is empty"]


async def test_a_drain_that_is_taken_back_ends() -> None:
    """The wait fails when somebody undrains the node, because it would never be empty."""
    async with FakeEngine() as engine:
        engine.nodes = [drained(2), (NodeView("pbx1", True, 2),)]
        with pytest.raises(UsageError, match="was undrained"):
            await waited(engine)
