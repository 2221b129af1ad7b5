"""Several engines over one Valkey, with one or more PBX nodes, and the owners of their shards."""

import asyncio
import json
import os
import secrets
import signal
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

from redis.asyncio import Redis

from dev.servers.server import Server
from engine.store.redis.script_connection import owner_key, shard_key
from tests.harness.live_lab import Lab
from tests.harness.pbx.asterisk import Pbx, Secrets
from tests.harness.ports import free_port
from tests.harness.servers.engine import Engine
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.servers.valkey import Valkey
from tests.harness.until import MAX_WAIT_S, until
from wire.shard import ShardId

SLOTS = 8  # per node
LEASE_S = 2.0


class Cluster:
    """`labs` are views of the same servers, each through another engine."""

    def __init__(
        self,
        folder: Path,
        *,
        engines: int = 2,
        nodes: int = 1,
        slots: int = SLOTS,
        trunk_refers: bool = False,
    ) -> None:
        self.trunk_port = free_port()
        self.valkey = Valkey(folder / "valkey")
        trunk = f"sip:127.0.0.1:{self.trunk_port}"
        names = [f"pbx{number}" for number in range(1, nodes + 1)]
        self.slots = slots
        self.shards = [ShardId(name, slot) for name in names for slot in range(slots)]
        passwords = Secrets(*(secrets.token_hex(8) for _ in range(4)))
        self.nodes = [
            Pbx(
                folder / name,
                name=name,
                slots=slots,
                trunk=trunk,
                passwords=passwords,
                trunk_refers=trunk_refers,
                agent_refers=True,
            )
            for name in names
        ]
        self.labs: list[Lab] = []
        self._folder = folder
        self._token = secrets.token_hex(16)
        self._stack = AsyncExitStack()
        for _ in range(engines):
            self.add_engine()

    async def __aenter__(self) -> Self:
        try:
            await self._start_all(self.valkey, *self.nodes)
            await self._start_all(*(lab.engine for lab in self.labs))
            await self.wait_balanced()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        for lab in self.labs:
            thaw(lab.engine)
        await self._stack.aclose()

    async def _start_all(self, *servers: Server) -> None:
        """Start servers concurrently; all stop with the cluster, even if one fails to start."""
        for server in servers:
            self._stack.push_async_callback(server.stop)
        async with asyncio.TaskGroup() as starting:
            for server in servers:
                starting.create_task(server.start())

    def add_engine(
        self,
        settings: Mapping[str, str] | None = None,
        proxies: Sequence[TcpProxy] = (),
        node_options: Mapping[str, Mapping[str, object]] | None = None,
    ) -> Lab:
        """Add an engine that is not started, and return its Lab."""
        engine = Engine(
            self._folder / f"engine{len(self.labs) + 1}",
            valkey=self.valkey,
            nodes=self.nodes,
            settings={
                "SWITCHROOM_LEASE_S": str(LEASE_S),
                "SWITCHROOM_SLOTS": str(self.slots),
                **(settings or {}),
            },
            node_options=node_options,
            token=self._token,
            proxies=proxies,
        )
        self.labs.append(Lab(self.valkey, self.nodes[0], engine, self.trunk_port))
        return self.labs[-1]

    async def join(self) -> Lab:
        """Add an engine, start it and return its Lab."""
        lab = self.add_engine()
        await self._stack.enter_async_context(lab.engine)
        return lab

    async def owners(self) -> dict[ShardId, int]:
        """Return the process id of the owner of each shard with a valid lease."""
        client = Redis.from_url(self.valkey.url)
        try:
            return await read_owners(client, self.shards)
        finally:
            await client.aclose()

    async def shards_of(self, engine: Engine) -> list[ShardId]:
        """Return the shards that an engine owns."""
        return [shard for shard, pid in (await self.owners()).items() if pid == engine.pid]

    async def wait_balanced(self, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait until the running engines own their shares of the shards and are ready."""
        running = [lab.engine for lab in self.labs if lab.engine.running()]

        async def is_balanced() -> bool:
            counts = [len(await self.shards_of(each)) for each in running]
            return sum(counts) == len(self.shards) and all(counts)

        await until(is_balanced, timeout_s=timeout_s, what="all shards to be shared")
        for engine in running:
            await until(engine.is_ready, what="an engine to be ready")

    async def wait_empty(self, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait until no call, no channel and no bridge is left."""
        running = next(lab for lab in self.labs if lab.engine.running())

        async def is_empty() -> bool:
            left = (await running.engine.rpc("GET", "/calls"))["calls"]
            for node in self.nodes:
                lab = Lab(self.valkey, node, running.engine, self.trunk_port)
                left += [*await lab.ari("channels"), *await lab.ari("bridges")]
            return not left

        await until(is_empty, timeout_s=timeout_s, what="the PBX nodes to be empty")

    async def flush(self) -> None:
        """Delete everything in the store."""
        await self.valkey.flush()

    async def events(self) -> Sequence[dict[str, Any]]:
        """Return all published events, shard by shard, in order."""
        client = Redis.from_url(self.valkey.url)
        try:
            streams: list[Any] = [
                await client.xrange(shard_key(shard, "events")) for shard in self.shards
            ]
        finally:
            await client.aclose()
        return [json.loads(fields[b"e"]) for stream in streams for _, fields in stream]


async def read_owners(client: Redis, shards: Sequence[ShardId]) -> dict[ShardId, int]:
    """Return the process id of the owner of each shard with a valid lease, in one round trip."""
    pipeline = client.pipeline(transaction=False)
    pipeline.time()
    for shard in shards:
        pipeline.hgetall(owner_key(shard))
    (now_s, now_us), *leases = await pipeline.execute()
    now_ms = now_s * 1000 + now_us // 1000
    return {
        shard: int(each[b"owner"].rpartition(b"-")[2])
        for shard, each in zip(shards, leases, strict=True)
        if int(each.get(b"until", 0)) > now_ms
    }


def freeze(server: Server) -> None:
    """Suspend a process (SIGSTOP)."""
    os.kill(server.pid, signal.SIGSTOP)


def thaw(server: Server) -> None:
    """Resume a process (SIGCONT)."""
    if server.running():
        os.kill(server.pid, signal.SIGCONT)
