"""Which primary of a cluster gets a command, when its key moves, and how long reads wait."""

import asyncio
from collections import defaultdict, deque
from typing import Any

import pytest
from redis.exceptions import AskError, MovedError, ReadOnlyError, ResponseError
from redis.exceptions import ConnectionError as LostError

from engine.store.errors import StoreDown
from engine.store.redis.cluster.client import (
    ANY_KEY,
    MAX_REDIRECTIONS,
    ClusterClient,
    ClusterScripts,
)
from engine.store.redis.cluster.topology import ClusterNode
from engine.store.redis.script_connection import NEW_CONNECTION, LuaScript
from tests.harness.virtual_time import virtual_time

A, B = ("a", 1), ("b", 1)
SCRIPT = LuaScript("return 1")
TIMEOUT_S = 0.05


class Primary:
    """A primary with the answers that the test gives it, else its name; knows what it was sent."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.answers = deque[Any]()
        self.sent: list[Any] = []
        self.opened = 0

    async def execute_command(self, *args: Any, **_options: Any) -> Any:
        answer = self._answer(*args)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def pipeline(self, *, transaction: bool) -> "Batch":
        return Batch(self, is_transaction=transaction)

    async def run(self, _script: LuaScript, key: str, _argument: bytes, *, may_open: bool) -> Any:
        return await self.execute_command("script", key, may_open)

    async def open(self) -> None:
        self.opened += 1

    def _answer(self, *args: Any) -> Any:
        self.sent.append(args)
        return self.answers.popleft() if self.answers else self.name


class Batch:
    """Commands that are sent to one primary together."""

    def __init__(self, primary: Primary, *, is_transaction: bool) -> None:
        self._primary = primary
        self._is_transaction = is_transaction
        self._commands: list[Any] = []

    def execute_command(self, *args: Any, **_options: Any) -> None:
        self._commands.append(args)

    async def execute(self, *, raise_on_error: bool) -> list[Any]:
        assert not raise_on_error
        self._primary.sent.append("MULTI" if self._is_transaction else "batch")
        if self._is_transaction and self._primary.answers:
            raise self._primary.answers.popleft()
        return [self._primary._answer(*each) for each in self._commands]  # noqa: SLF001 - its own


class Cluster:
    """A topology of two primaries; keys are at the first until they move."""

    connections = 7

    def __init__(self) -> None:
        self.a, self.b = Primary("a"), Primary("b")
        self.nodes = {place: _node(place, one) for place, one in ((A, self.a), (B, self.b))}
        self.places: defaultdict[str, tuple[str, int]] = defaultdict(lambda: A)
        self.suspected = 0
        self.is_loaded = False
        self.known = {A}
        topology: Any = self
        self.client = ClusterClient(topology)
        self.scripts = ClusterScripts(topology, TIMEOUT_S)

    def batch(self, *, transaction: bool = False) -> Any:
        """Return a pipeline, untyped in redis-py."""
        return self.client.pipeline(transaction=transaction)

    async def run(self, **options: bool) -> Any:
        """Run a script."""
        return await self.scripts.run(SCRIPT, "k", b"", **options)

    @property
    def primaries(self) -> list[ClusterNode]:
        return list(self.nodes.values()) if self.is_loaded else []

    async def of_key(self, key: str | bytes) -> ClusterNode:
        self.is_loaded = True
        return self.nodes[self.places[key if isinstance(key, str) else key.decode()]]

    def is_known(self, node: ClusterNode) -> bool:
        return node.location in self.known

    def node_at(self, redirection: str) -> ClusterNode:
        host, _, port = redirection.rpartition(" ")[2].rpartition(":")
        return self.nodes[host, int(port)]

    def move(self, redirection: str) -> None:
        self.places.default_factory = lambda: self.node_at(redirection).location
        self.places.clear()

    def suspect(self) -> None:
        self.suspected += 1


@pytest.fixture
def it() -> Cluster:
    """Create a cluster outside the loop, which redis-py would block."""
    return Cluster()


def _node(place: tuple[str, int], primary: Any) -> ClusterNode:
    return ClusterNode(place, primary, primary)


@virtual_time
async def test_a_key_that_has_moved(it: Cluster) -> None:
    """Its command follows it; not for ever, if the primaries contradict each other."""
    it.a.answers.append(MovedError("1 b:1"))
    assert await it.client.execute_command("GET", "k") == "b"
    assert (it.a.sent, it.b.sent) == ([("GET", "k")], [("GET", "k")])
    it.b.answers.extend([MovedError("1 b:1")] * 99)
    with pytest.raises(MovedError):
        await it.client.execute_command("GET", "k")
    assert len(it.b.sent) == 1 + MAX_REDIRECTIONS + 1


@virtual_time
async def test_a_key_that_is_being_moved(it: Cluster) -> None:
    """This command alone goes to its next primary, after ASKING."""
    it.a.answers.append(AskError("1 b:1"))
    assert await it.client.execute_command("GET", "k") == "b"
    assert it.b.sent == ["batch", ("ASKING",), ("GET", "k")]
    assert await it.client.execute_command("GET", "k") == "a"


@virtual_time
async def test_commands_that_are_sent_together(it: Cluster) -> None:
    """Each primary gets its own, and each answer has the place of its command."""
    it.places["k2"] = it.places["k3"] = B
    it.a.answers.extend([1, AskError("1 b:1"), ResponseError("wrong")])
    batch = it.batch()
    for key in ("k1", "k2", "k3", "k4", "k5"):
        batch.get(key)
    found = [str(each) for each in await batch.execute(raise_on_error=False)]
    assert found == ["1", "b", "b", "b", "wrong"]
    assert it.a.sent == ["batch", ("GET", "k1"), ("GET", "k4"), ("GET", "k5")]
    it.a.answers.append(MovedError("1 b:1"))
    assert await it.batch().get("k1").execute() == ["b"]
    it.b.answers.append(ResponseError("wrong"))
    with pytest.raises(ResponseError, match="wrong"):
        await it.batch().get("k1").execute()


@virtual_time
async def test_a_transaction_follows_its_keys(it: Cluster) -> None:
    """All of its commands are sent again, to one primary."""
    it.a.answers.append(MovedError("1 b:1"))
    assert await it.batch(transaction=True).get("k1").get("k2").execute() == ["b", "b"]
    assert it.a.sent == ["MULTI"]
    assert it.b.sent == ["MULTI", ("GET", "k1"), ("GET", "k2")]


@pytest.mark.parametrize(
    ("error", "is_suspect"),
    [
        (LostError(), True),
        (OSError(), True),
        (ReadOnlyError(), True),
        (asyncio.CancelledError(), True),
        (ResponseError(), False),
    ],
)
@virtual_time
async def test_a_primary_that_may_have_been_replaced(
    it: Cluster, error: BaseException, is_suspect: bool
) -> None:
    """The map is read again before it is used next."""
    it.a.answers.append(error)
    with pytest.raises(type(error)):
        await it.client.execute_command("GET", "k")
    assert it.suspected == is_suspect


@virtual_time
async def test_where_commands_go(it: Cluster) -> None:
    """Each goes to the primary of its key; a ping goes to all."""
    assert await it.client.primaries() == [*it.nodes.values()]
    keys = (ANY_KEY, "e", "{s}:*", "x", "g")
    it.places |= dict.fromkeys(keys, B)
    await it.client.execute_command("TIME")
    await it.client.eval("return 1", 1, "e", "argument")
    await it.client.execute_command("SCAN", "0", b"MATCH", b"{s}:*")
    await it.client.execute_command("XREAD", b"COUNT", 1, b"STREAMS", "x", "0-0")
    await it.client.execute_command("XREADGROUP", b"GROUP", "a", "b", b"STREAMS", "g", ">")
    assert (len(it.b.sent), it.a.sent) == (5, [])
    assert await it.client.execute_command("PING") == "a"
    assert (len(it.b.sent), len(it.a.sent)) == (6, 1)


@virtual_time
async def test_a_read_of_several_streams_waits(it: Cluster) -> None:
    """It polls them, less and less often, until one has something or its time is over."""
    loop = asyncio.get_running_loop()
    it.places["x"] = B
    it.a.answers.extend([None] * 99)
    it.b.answers.extend([None] * 99)
    assert await it.client.xread({"w": "0", "x": "0"}, count=5) == []
    assert (loop.time(), it.a.sent.count("batch"), it.b.sent.count("batch")) == (0.0, 1, 1)
    assert it.a.sent[-1] == ("XREAD", b"COUNT", "5", b"STREAMS", "w", "0")
    assert await it.client.xread({"w": "0", "x": "0"}, block=400) == []
    assert loop.time() == pytest.approx(0.4)
    assert it.a.sent.count("batch") == 1 + 8  # after 0, 10, 30, 70, 150, 250, 350 and 400 ms
    it.b.answers.extend([None, [["x", [("1-0", {})]]]])
    for _ in range(90):
        it.b.answers.popleft()
    found = await it.client.xreadgroup("g", "me", {"w": ">", "x": ">"}, count=5, block=400)
    assert found == [["x", [("1-0", {})]]]
    assert loop.time() == pytest.approx(0.41)
    assert it.b.sent[-1] == ("XREADGROUP", b"GROUP", "g", "me", b"COUNT", "5", b"STREAMS", "x", ">")


@virtual_time
async def test_a_script_follows_its_key(it: Cluster) -> None:
    """While the key is being moved it waits for that, but no longer than it may take."""
    loop = asyncio.get_running_loop()
    it.a.answers.extend([StoreDown("TRYAGAIN"), StoreDown("ASK 1 b:1"), StoreDown("MOVED 1 b:1")])
    assert await it.run() == "b"
    assert loop.time() == pytest.approx(0.06)
    assert (it.suspected, it.b.sent) == (0, [("script", "k", True)])
    it.b.answers.extend([StoreDown("TRYAGAIN")] * 99)
    with pytest.raises(StoreDown, match="TRYAGAIN"):
        await it.run()
    assert loop.time() == pytest.approx(0.06 + 0.06)
    assert it.scripts.connections == 7


@virtual_time
async def test_a_script_whose_primary_is_down(it: Cluster) -> None:
    """It fails at once, unless there is another primary by now."""
    it.a.answers.append(StoreDown("connection lost"))
    with pytest.raises(StoreDown, match="connection lost"):
        await it.run()
    assert (it.suspected, len(it.a.sent)) == (1, 1)
    it.a.answers.append(StoreDown("connection lost"))
    it.suspect = lambda: it.move("MOVED 1 b:1")  # type: ignore[method-assign]  # the slot moves then
    assert await it.run() == "b"


@virtual_time
async def test_a_script_that_may_open_no_connection(it: Cluster) -> None:
    """It is not run at a primary that was not known before; that one is connected meanwhile."""
    assert await it.run(may_open=False) == "a"
    assert it.a.sent == [("script", "k", False)]
    it.places["k"] = B
    with pytest.raises(StoreDown, match=NEW_CONNECTION):
        await it.run(may_open=False)
    assert (it.b.opened, it.b.sent) == (1, [])
    assert await it.run() == "b"
