"""A connection for scripts: order, repetition and time limits, whatever the server does."""

import asyncio
from typing import Any

import pytest
from hiredis import Reader
from redis.exceptions import ConnectionError as RefusedError

from engine.store.errors import StoreDown
from engine.store.redis.script_connection import (
    NEW_CONNECTION,
    LuaScript,
    ScriptConnection,
    ScriptResult,
)
from tests.harness.virtual_time import virtual_time

TIMEOUT_S = 2.0
SCRIPT = LuaScript("return 1")
DIGEST = b"e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
ENDS = ["abort", "close"]  # of a connection: its transport, then redis-py's part
NO_SCRIPT = b"-NOSCRIPT No matching script.\r\n"
Task = asyncio.Task[ScriptResult]


class Link:
    """A connection as redis-py has it, and its transport."""

    def __init__(self, server: "Server") -> None:
        self._server = server
        self._writer = self.transport = self
        self.protocol: Any = None
        self.writes: list[list[Any]] = []  # commands that were written together
        self.ends: list[str] = []

    async def connect(self) -> None:
        await asyncio.sleep(self._server.connect_s)  # on virtual time
        if self._server.fault is not None:
            raise self._server.fault

    def set_protocol(self, protocol: Any) -> None:
        self.protocol = protocol

    def write(self, data: bytes) -> None:
        reader, commands = Reader(), list[Any]()
        reader.feed(data)
        while (command := reader.gets()) is not False:
            commands.append(command)
        self.writes.append(commands)

    def abort(self) -> None:
        self.ends.append("abort")

    def _close(self) -> None:
        self.ends.append("close")

    def reply(self, *replies: bytes) -> None:
        """Let the server reply, all at once."""
        self.protocol.data_received(b"".join(replies))

    def lose(self) -> None:
        self.protocol.connection_lost(None)

    def arguments(self) -> list[list[bytes]]:
        """List the arguments of what was written together."""
        return [[command[-1] for command in write] for write in self.writes]


class Server:
    """Stands for a pool; the test says what its server does."""

    def __init__(self) -> None:
        self.links: list[Link] = []
        self.fault: Exception | None = None
        self.connect_s = 0.0
        pool: Any = self
        self.scripts = ScriptConnection(pool, TIMEOUT_S)

    def make_connection(self) -> Link:
        self.links.append(Link(self))
        return self.links[-1]

    async def run(self, *arguments: str, **options: bool) -> list[Task]:
        """Begin calls, and let the loop do what it can without a reply."""
        calls = [
            asyncio.create_task(self.scripts.run(SCRIPT, "key", each.encode(), **options))
            for each in arguments
        ]
        await turn()
        return calls


async def turn() -> None:
    """Run every task that waits only for the loop."""
    for _ in range(20):
        await asyncio.sleep(0)


async def failure(call: Task, *, at_s: float) -> str:
    """Return why a call fails, and check when."""
    with pytest.raises(StoreDown) as failed:
        await call
    assert asyncio.get_running_loop().time() == pytest.approx(at_s)
    return str(failed.value)


@virtual_time
async def test_calls_of_a_tick_are_one_write() -> None:
    """Their replies come in their order; who no longer waits takes no other's."""
    server = Server()
    one, two, three = await server.run("1", "2", "3")
    (link,) = server.links
    frame = [b"EVALSHA", DIGEST, b"1", b"key"]
    assert link.writes == [[[*frame, b"1"], [*frame, b"2"], [*frame, b"3"]]]
    two.cancel()
    await turn()
    link.reply(b":1\r\n", b":2\r\n", b"$1\r\n3\r\n")
    assert (await one, await three) == (1, b"3")
    four, five = await server.run("4", "5")
    link.reply(b":4\r\n", b":5\r\n")
    assert (await four, await five) == (4, 5)
    assert link.arguments() == [[b"1", b"2", b"3"], [b"4", b"5"]]
    assert server.scripts.connections == 1


@virtual_time
async def test_a_server_without_the_script_gets_its_source() -> None:
    """Once: an error of the same name in the script itself is no reason to send it again."""
    server = Server()
    (call,) = await server.run("1")
    server.links[0].reply(NO_SCRIPT)
    await turn()
    assert server.links[0].writes[1] == [[b"EVAL", b"return 1", b"1", b"key", b"1"]]
    server.links[0].reply(NO_SCRIPT)
    assert (await failure(call, at_s=0.0)).startswith("NOSCRIPT")


@virtual_time
async def test_an_error_fails_its_call_only() -> None:
    """Calls before and behind it are answered; later ones go to another connection."""
    server = Server()
    one, two, three = await server.run("1", "2", "3")
    server.links[0].reply(b":1\r\n", b"-READONLY a replica\r\n")
    assert await failure(two, at_s=0.0) == "READONLY a replica"
    (four,) = await server.run("4")
    assert len(server.links) == 1
    server.links[0].reply(b":3\r\n")
    assert (await one, await three) == (1, 3)
    await turn()
    assert server.links[0].ends == ENDS
    assert server.links[1].arguments() == [[b"4"]]
    server.links[1].reply(b":4\r\n")
    assert await four == 4
    assert server.scripts.connections == 2


@virtual_time
async def test_unanswered_calls_are_sent_once_more() -> None:
    """Before those that have not been sent; after a second loss they fail."""
    server = Server()
    one, two = await server.run("1", "2")
    server.links[0].reply(b":1\r\n")
    server.links[0].lose()
    (three,) = await server.run("3")
    assert server.links[1].arguments() == [[b"2", b"3"]]
    server.links[0].lose()  # the report of what was closed already changes nothing
    assert server.links[1].ends == []
    server.links[1].lose()
    assert await failure(two, at_s=0.0) == "connection lost"
    await turn()
    assert server.links[2].arguments() == [[b"3"]]
    server.links[2].reply(b":3\r\n")
    assert (await one, await three) == (1, 3)


@virtual_time
async def test_a_call_fails_when_its_time_is_over() -> None:
    """The calls behind it get another connection, and have their own time."""
    server = Server()
    (one,) = await server.run("1")
    await asyncio.sleep(0.5)  # on virtual time
    two, three = await server.run("2", "3")
    assert await failure(one, at_s=TIMEOUT_S) == "no answer in 2.0 s"
    await turn()
    assert server.links[0].ends == ENDS
    server.links[1].reply(b":2\r\n")
    assert await two == 2
    await failure(three, at_s=TIMEOUT_S + 0.5)
    (four,) = await server.run("4")
    await failure(four, at_s=2 * TIMEOUT_S + 0.5)


@pytest.mark.parametrize(
    ("fault", "connect_s", "reason"),
    [
        (OSError("no route"), 0.0, "OSError: no route"),
        (RefusedError("refused"), 1.0, "ConnectionError: refused"),
        (None, 10.0, "no answer in 2.0 s"),
    ],
)
@virtual_time
async def test_no_connection(fault: Exception | None, connect_s: float, reason: str) -> None:
    """A call that waits for it fails with its reason; the next call tries again."""
    server = Server()
    server.fault, server.connect_s = fault, connect_s
    (one,) = await server.run("1")
    await asyncio.sleep(connect_s / 20)  # on virtual time
    (two,) = await server.run("2")
    for call in (one, two):
        assert await failure(call, at_s=min(connect_s, TIMEOUT_S)) == reason
    server.fault, server.connect_s = None, 0.0
    (three,) = await server.run("3")
    assert server.links[-1].arguments() == [[b"3"]]
    server.links[-1].reply(b":3\r\n")
    assert await three == 3
    assert server.scripts.connections == 1


@virtual_time
async def test_a_call_that_may_open_no_connection() -> None:
    """It may open the first one; later it opens one, but is not sent over it, in any case."""
    server = Server()
    (one,) = await server.run("1", may_open=False)
    server.links[0].lose()
    assert await failure(one, at_s=0.0) == "connection lost"
    (two,) = await server.run("2", may_open=False)
    assert await failure(two, at_s=0.0) == NEW_CONNECTION
    assert not any(server.links[1].writes)
    (three,) = await server.run("3", may_open=False)
    server.links[1].reply(b":3\r\n")
    assert await three == 3
    server.links[1].lose()
    server.fault = OSError("no route")
    (four,) = await server.run("4", may_open=False)
    assert await failure(four, at_s=0.0) == "not connected"


@pytest.mark.parametrize("surplus", [b":2\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
@virtual_time
async def test_what_is_no_reply(surplus: bytes) -> None:
    """A server that sends it is left at once, and the next call goes to another connection."""
    server = Server()
    (one,) = await server.run("1")
    server.links[0].reply(b":1\r\n", surplus)
    assert await one == 1
    assert server.links[0].ends == ENDS
    (two,) = await server.run("2")
    server.links[1].reply(b":2\r\n")
    assert await two == 2


@virtual_time
async def test_closing() -> None:
    """Calls in flight fail, whether their connection is open or not yet, and no other is opened."""
    for connect_s in (0.0, 1.0):
        server = Server()
        server.connect_s = connect_s
        (one,) = await server.run("1")
        await server.scripts.close()
        began_s = asyncio.get_running_loop().time()
        assert await failure(one, at_s=began_s) == "closed"
        await asyncio.sleep(TIMEOUT_S)  # on virtual time
        assert (len(server.links), server.scripts.connections) == (1, 1 - connect_s)
