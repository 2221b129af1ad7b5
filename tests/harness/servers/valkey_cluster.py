"""A cluster of Valkey servers: three primaries with a replica each.

async with ValkeyCluster(tmp_path / "cluster") as cluster:
    store = RedisStore(cluster.url)
    await cluster.primary_of("{s3}:owner").kill()  # its replica is promoted
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from redis.crc import key_slot

from tests.harness.ports import free_port
from tests.harness.servers.valkey import Valkey
from tests.harness.until import until

PRIMARIES = 3
HASH_SLOTS = 16_384
NODE_TIMEOUT_MS = 1_000


class ClusterMember(Valkey):
    """One server of a cluster."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.bus_port = free_port()

    def command(self) -> Sequence[str]:
        """Return the command line of a server that elects a new primary within seconds."""
        options = {
            "cluster-enabled": "yes",
            "cluster-port": str(self.bus_port),
            "cluster-node-timeout": str(NODE_TIMEOUT_MS),
            "cluster-replica-validity-factor": "0",
            "cluster-require-full-coverage": "no",
            "repl-diskless-sync-delay": "0",
        }
        flags = [part for name, value in options.items() for part in (f"--{name}", value)]
        return [*super().command(), *flags]

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Redis]:
        """Connect to this server alone."""
        client = Redis(port=self.port, decode_responses=True)
        try:
            yield client
        finally:
            await client.aclose()

    async def ask(self, *command: object) -> Any:
        """Run a command on this server."""
        async with self.connected() as client:
            return await client.execute_command(*command)  # type: ignore[no-untyped-call]  # untyped in redis-py

    async def hash_slots(self) -> range:
        """Return the range of hash slots that this server has."""
        name = await self.ask("CLUSTER", "MYID")
        for first, last, primary, *_replicas in await self.ask("CLUSTER", "SLOTS"):
            if primary[2] == name:
                return range(first, last + 1)
        return range(0)


class Move:
    """A hash slot on its way."""

    def __init__(self, source: ClusterMember, target: ClusterMember) -> None:
        self._source = source
        self._target = target

    async def move(self, *keys: str) -> None:
        """Move keys to the new primary."""
        port = self._target.port
        await self._source.ask("MIGRATE", "127.0.0.1", port, "", 0, 5_000, "KEYS", *keys)


class ValkeyCluster:
    """Six servers; `members` are the three first primaries, then their replicas."""

    def __init__(self, folder: Path) -> None:
        self.members = [ClusterMember(folder / f"v{number}") for number in range(2 * PRIMARIES)]
        self._stack = AsyncExitStack()

    @property
    def url(self) -> str:
        """The address that an operator configures: some of the servers."""
        hosts = (f"127.0.0.1:{member.port}" for member in self.members[1:4])
        return f"redis+cluster://{','.join(hosts)}"

    async def start(self) -> Self:
        """Start the servers and make them a cluster."""
        await asyncio.gather(*map(self._stack.enter_async_context, self.members))
        first, *others = self.members
        for member in others:
            await member.ask("CLUSTER", "MEET", "127.0.0.1", first.port, first.bus_port)
        for number, primary in enumerate(self.members[:PRIMARIES]):
            begin, end = (HASH_SLOTS * each // PRIMARIES for each in (number, number + 1))
            await primary.ask("CLUSTER", "ADDSLOTSRANGE", begin, end - 1)
            replica = self.members[PRIMARIES + number]
            name = await primary.ask("CLUSTER", "MYID")
            await until(partial(_knows, replica, name), what="the primary")
            await replica.ask("CLUSTER", "REPLICATE", name)
        await self.settle()
        return self

    async def settle(self) -> None:
        """Wait until all running servers agree, and every primary has its replica."""
        await until(self._is_settled, every_s=0.1, what="the cluster")

    async def primary_of(self, key: str) -> ClusterMember:
        """Return the server that has a key now."""
        running = [member for member in self.members if member.running()]
        for first, last, primary, *_replicas in await running[-1].ask("CLUSTER", "SLOTS"):
            if first <= key_slot(key.encode()) <= last:
                return next(member for member in self.members if member.port == primary[1])
        raise RuntimeError(f"no primary of {key}")

    def replica_of(self, primary: ClusterMember) -> ClusterMember:
        """Return the other server of a pair."""
        at = self.members.index(primary)
        return self.members[(at + PRIMARIES) % len(self.members)]

    @asynccontextmanager
    async def moving(self, hash_slot: int) -> AsyncIterator["Move"]:
        """Move a hash slot from its primary to another one; ends the move at the exit."""
        primaries = self.members[:PRIMARIES]
        owned = [await each.hash_slots() for each in primaries]
        source = next(
            each for each, slots in zip(primaries, owned, strict=True) if hash_slot in slots
        )
        target = next(each for each in primaries if each is not source)
        names = [await each.ask("CLUSTER", "MYID") for each in (source, target)]
        await target.ask("CLUSTER", "SETSLOT", hash_slot, "IMPORTING", names[0])
        await source.ask("CLUSTER", "SETSLOT", hash_slot, "MIGRATING", names[1])
        yield Move(source, target)
        for member in (target, source):
            await member.ask("CLUSTER", "SETSLOT", hash_slot, "NODE", names[1])

    def flush(self) -> None:
        """Delete all data of a cluster without a failover so far."""
        for primary in self.members[:PRIMARIES]:
            with BlockingRedis(port=primary.port) as client:
                client.flushall()

    async def stop(self) -> None:
        """Stop all servers."""
        await self._stack.aclose()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _is_settled(self) -> bool:
        for member in self.members:
            if not member.running():
                continue
            async with member.connected() as client:
                info = await client.execute_command("CLUSTER", "INFO")  # type: ignore[no-untyped-call]  # untyped in redis-py
                slots = await client.execute_command("CLUSTER", "SLOTS")  # type: ignore[no-untyped-call]  # untyped in redis-py
                replication = await client.info("replication")
            is_linked = replication.get("master_link_status", "up") == "up"
            if "cluster_state:ok" not in str(info) or not is_linked:
                return False
            if len(slots) != PRIMARIES or any(len(each) < 4 for each in slots):
                return False
        return True


async def _knows(member: ClusterMember, name: str) -> bool:
    return name in str(await member.ask("CLUSTER", "NODES"))
