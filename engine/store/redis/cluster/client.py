"""The ordinary client of a cluster: sends each command to the primary that has its key.

redis-py's own client for clusters waits for a primary that hangs without a limit, and learns of
another one only from an answer.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline, PubSub
from redis.exceptions import AskError, ClusterDownError, MovedError, ReadOnlyError
from redis.exceptions import ConnectionError as RedisConnectionError

from engine.store.errors import StoreDown
from engine.store.redis.cluster.topology import ClusterNode, Topology
from engine.store.redis.script_connection import NEW_CONNECTION, LuaScript, ScriptResult

MAX_REDIRECTIONS = 5
ANY_KEY = "members"  # its primary has the clock that all engines use, and receives all messages
FIRST_POLL_S, LONGEST_POLL_S = 0.01, 0.1
_REPLACED = (RedisConnectionError, OSError, ReadOnlyError, ClusterDownError, asyncio.CancelledError)
Command = tuple[tuple[Any, ...], Mapping[str, Any]]  # its arguments, and redis-py's options
Streams = Mapping[Any, Any]


class ClusterClient(Redis):
    """Implements what the store uses of `Redis`: commands of one key, or of keys of one hash tag.

    Reads of several streams poll them: a cluster cannot block on keys of several hash slots.
    """

    def __init__(self, topology: Topology) -> None:
        super().__init__()
        self._topology = topology

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        node = await self._topology.of_key(_key_of(args))
        if args[0] == "PING":
            pings = [self._run(each, args, options) for each in self._topology.primaries]
            return (await asyncio.gather(*pings))[0]
        for _ in range(MAX_REDIRECTIONS):
            try:
                return await self._run(node, args, options)
            except MovedError as error:
                self._topology.move(str(error))
                node = await self._topology.of_key(_key_of(args))
            except AskError as error:
                return await self._ask(str(error), (args, options))
        return await self._run(node, args, options)

    async def primaries(self) -> list[ClusterNode]:
        """Return the primaries of the current map; raises StoreDown."""
        await self._topology.of_key(ANY_KEY)
        return self._topology.primaries

    def pipeline(
        self, transaction: bool = True, shard_hint: str | None = None
    ) -> "ClusterPipeline":
        """Return a pipeline; all keys of a transaction need one hash tag."""
        del shard_hint
        return ClusterPipeline(self, is_transaction=transaction)

    def pubsub(self, **options: Any) -> "ClusterPubSub":
        """Return a subscriber at one primary: messages reach all of them."""
        return ClusterPubSub(self._topology, self, **options)

    async def xread(  # type: ignore[override]  # it takes only the options that the store uses
        self, streams: Streams, count: int | None = None, block: int | None = None
    ) -> list[Any]:
        reads = self.pipeline(transaction=False)
        for key, after in streams.items():
            reads.xread({key: after}, count=count)
        return await _poll(reads, block)

    async def xreadgroup(  # type: ignore[override]  # it takes only the options that the store uses
        self,
        groupname: str,
        consumername: str,
        streams: Streams,
        count: int | None = None,
        block: int | None = None,
    ) -> list[Any]:
        reads = self.pipeline(transaction=False)
        for key, after in streams.items():
            reads.xreadgroup(groupname, consumername, {key: after}, count=count)
        return await _poll(reads, block)

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        del close_connection_pool
        await self._topology.close()

    async def run_all(self, commands: Sequence[Command], *, is_transaction: bool) -> list[Any]:
        """Run commands at their primaries; returns results and errors in order."""
        nodes = [await self._topology.of_key(_key_of(args)) for args, _ in commands]
        if is_transaction:
            return await self._run_transaction(nodes[0], commands)
        parts = {node: [at for at, each in enumerate(nodes) if each is node] for node in set(nodes)}
        answers = await asyncio.gather(
            *(self._run_part(node, [commands[at] for at in part]) for node, part in parts.items())
        )
        by_position = {
            at: answer
            for part, found in zip(parts.values(), answers, strict=True)
            for at, answer in zip(part, found, strict=True)
        }
        return [by_position[at] for at in range(len(commands))]

    async def _run(self, node: ClusterNode, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        with _suspecting(self._topology):
            return await node.client.execute_command(*args, **options)  # type: ignore[no-untyped-call]  # untyped in redis-py

    async def _run_part(self, node: ClusterNode, commands: Sequence[Command]) -> list[Any]:
        with _suspecting(self._topology):
            answers = await _replay(node, commands, is_transaction=False)
        for at, answer in enumerate(answers):
            args, options = commands[at]
            if isinstance(answer, MovedError):
                self._topology.move(str(answer))
                answers[at] = await self.execute_command(*args, **options)
            elif isinstance(answer, AskError):
                answers[at] = await self._ask(str(answer), commands[at])
        return answers

    async def _run_transaction(self, node: ClusterNode, commands: Sequence[Command]) -> list[Any]:
        with _suspecting(self._topology):
            try:
                return await _replay(node, commands, is_transaction=True)
            except MovedError as error:
                self._topology.move(str(error))
                node = await self._topology.of_key(_key_of(commands[0][0]))
                return await _replay(node, commands, is_transaction=True)

    async def _ask(self, redirection: str, command: Command) -> Any:
        """Run a command at the node that a hash slot is being moved to."""
        asking: Command = ("ASKING",), {}
        node = self._topology.node_at(redirection)
        return (await _replay(node, [asking, command], is_transaction=False))[1]


class ClusterPipeline(Pipeline):
    """Commands that are sent together, to each primary its own."""

    def __init__(self, cluster: ClusterClient, *, is_transaction: bool) -> None:
        super().__init__(cluster.connection_pool, cluster.response_callbacks, is_transaction, None)
        self._cluster = cluster

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        commands = self.command_stack
        answers = await self._cluster.run_all(commands, is_transaction=self.is_transaction)
        if raise_on_error and (error := next(filter(_is_error, answers), None)):
            raise error
        return answers


class ClusterPubSub(PubSub):
    """A subscriber that connects to a primary of the current map."""

    def __init__(self, topology: Topology, cluster: ClusterClient, **options: Any) -> None:
        super().__init__(cluster.connection_pool, **options)
        self._topology = topology

    async def connect(self) -> None:
        with _suspecting(self._topology):
            if self.connection is None:
                node = await self._topology.of_key(ANY_KEY)
                self.connection_pool = node.client.connection_pool
            await super().connect()  # type: ignore[no-untyped-call]  # untyped in redis-py


@contextmanager
def _suspecting(topology: Topology) -> Iterator[None]:
    """Let the map be read again after an error or a timeout: a primary may have been replaced."""
    try:
        yield
    except _REPLACED:
        topology.suspect()
        raise


async def _replay(
    node: ClusterNode, commands: Sequence[Command], *, is_transaction: bool
) -> list[Any]:
    pipeline = node.client.pipeline(transaction=is_transaction)
    for args, options in commands:
        pipeline.execute_command(*args, **options)
    return await pipeline.execute(raise_on_error=False)


async def _poll(reads: ClusterPipeline, wait_ms: int | None) -> list[Any]:
    """Repeat reads until one finds something, or for a while; without `wait_ms` once."""
    loop = asyncio.get_running_loop()
    until_s, pause_s = loop.time() + (wait_ms or 0) / 1000, FIRST_POLL_S
    while True:
        found = [entries for answer in await reads.execute() if answer for entries in answer]
        left_s = until_s - loop.time()
        if found or left_s <= 0:
            return found
        await asyncio.sleep(min(pause_s, left_s))
        pause_s = min(2 * pause_s, LONGEST_POLL_S)


def _key_of(args: Sequence[Any]) -> str | bytes:
    """Return a key of a command, by which it is routed."""
    key: str | bytes
    match args[0]:
        case "PING" | "TIME":
            key = ANY_KEY
        case "EVAL":
            key = args[3]
        case "SCAN":  # the keys of one hash tag
            key = args[args.index(b"MATCH") + 1]
        case "XREAD" | "XREADGROUP":
            key = args[args.index(b"STREAMS") + 1]
        case _:
            key = args[1]
    return key


def _is_error(answer: object) -> bool:
    return isinstance(answer, Exception)


# A hash slot that is being moved: its keys are at two nodes, and a script must see all of them.
BEING_MOVED = ("ASK ", "TRYAGAIN")
RETRY_S = 0.02


class ClusterScripts:
    """Implements `ScriptRunner`."""

    def __init__(self, topology: Topology, timeout_s: float) -> None:
        self._topology = topology
        self._timeout_s = timeout_s

    @property
    def connections(self) -> int:
        return self._topology.connections

    async def run(
        self, script: LuaScript, key: str, argument: bytes, *, may_open: bool = True
    ) -> ScriptResult:
        """Run a repeatable script; raises StoreDown."""
        loop = asyncio.get_running_loop()
        until_s = loop.time() + self._timeout_s
        while True:
            node = await self._topology.of_key(key)
            if not may_open and not self._topology.is_known(node):
                await node.scripts.open()
                raise StoreDown(NEW_CONNECTION)
            try:
                return await node.scripts.run(script, key, argument, may_open=may_open)
            except StoreDown as error:
                reason = str(error)
                if reason.startswith("MOVED "):
                    self._topology.move(reason)
                elif not reason.startswith(BEING_MOVED):
                    # The primary may be dead or demoted: is there another one by now?
                    self._topology.suspect()
                    if await self._topology.of_key(key) is node:
                        raise
                if loop.time() >= until_s:
                    raise
            await asyncio.sleep(RETRY_S)

    async def close(self) -> None:
        """Do nothing: the client closes the topology, with all connections."""
