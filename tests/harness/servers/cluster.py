"""Several engines over one Valkey, with one or more PBX nodes, and which of them has which slot."""

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

from tests.harness.live_lab import Lab
from tests.harness.pbx.asterisk import Pbx
from tests.harness.ports import free_port
from tests.harness.servers.engine import Engine
from tests.harness.servers.server import Server
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.servers.valkey import Valkey
from tests.harness.until import until

SLOTS = 8
LEASE_S = 2.0


class Cluster:
    """`labs` are the same lab, each seen through another engine."""

    def __init__(self, folder: Path, *, engines: int = 2, nodes: int = 1) -> None:
        self.trunk_port = free_port()
        self.valkey = Valkey(folder / "valkey")
        trunk = f"sip:127.0.0.1:{self.trunk_port}"
        names = [f"pbx{number}" for number in range(1, nodes + 1)]
        self.nodes = [Pbx(folder / name, name=name, trunk=trunk) for name in names]
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
        """Start servers side by side, which end with the cluster, also if one does not start."""
        for server in servers:
            self._stack.push_async_callback(server.stop)
        async with asyncio.TaskGroup() as starting:
            for server in servers:
                starting.create_task(server.start())

    def add_engine(
        self, settings: Mapping[str, str] | None = None, ways: Sequence[TcpProxy] = ()
    ) -> Lab:
        """Prepare one more engine, and look through it."""
        engine = Engine(
            self._folder / f"engine{len(self.labs) + 1}",
            valkey=self.valkey,
            nodes=self.nodes,
            settings={"SWITCHROOM_LEASE_S": str(LEASE_S), **(settings or {})},
            token=self._token,
            ways=ways,
        )
        self.labs.append(Lab(self.valkey, self.nodes[0], engine, self.trunk_port))
        return self.labs[-1]

    async def join(self) -> Lab:
        """Start one more engine, which ends with the cluster."""
        lab = self.add_engine()
        await self._stack.enter_async_context(lab.engine)
        return lab

    async def owners(self) -> dict[int, int]:
        """Tell the process id of each slot's owner, of those whose lease runs."""
        client = Redis.from_url(self.valkey.url)
        try:
            return await read_owners(client)
        finally:
            await client.aclose()

    async def slots_of(self, engine: Engine) -> list[int]:
        """List the slots that an engine has."""
        return [slot for slot, pid in (await self.owners()).items() if pid == engine.pid]

    async def wait_balanced(self, timeout_s: float = 15) -> None:
        """Wait until the engines that run have equal shares of the slots."""
        running = [lab.engine for lab in self.labs if lab.engine.running()]

        async def is_so() -> bool:
            counts = [len(await self.slots_of(each)) for each in running]
            return sum(counts) == SLOTS and max(counts) - min(counts) <= 1

        await until(is_so, timeout_s=timeout_s, what="equal shares of the slots")
        for engine in running:
            await until(engine.is_ready, what="an engine to be ready")

    async def wait_empty(self, timeout_s: float = 10) -> None:
        """Wait until there is no call, no channel and no bridge."""
        running = next(lab for lab in self.labs if lab.engine.running())

        async def is_so() -> bool:
            left = (await running.engine.rpc("GET", "/calls"))["calls"]
            for node in self.nodes:
                seen = Lab(self.valkey, node, running.engine, self.trunk_port)
                left += [*await seen.ari("channels"), *await seen.ari("bridges")]
            return not left

        await until(is_so, timeout_s=timeout_s, what="the PBX nodes to be empty")

    async def flush(self) -> None:
        """Let the store lose everything."""
        client = Redis.from_url(self.valkey.url)
        await client.flushall()
        await client.aclose()

    async def events(self) -> Sequence[dict[str, Any]]:
        """Read all events told so far, slot by slot, in order."""
        client = Redis.from_url(self.valkey.url)
        try:
            streams: list[Any] = [await client.xrange(f"{{s{s}}}:events") for s in range(SLOTS)]
        finally:
            await client.aclose()
        return [json.loads(fields[b"e"]) for stream in streams for _, fields in stream]


async def read_owners(client: Redis) -> dict[int, int]:
    """Tell the process id of each slot's owner, of those whose lease runs, by one look."""
    look = client.pipeline(transaction=False)
    look.time()
    for slot in range(SLOTS):
        look.hgetall(f"{{s{slot}}}:owner")
    (now_s, now_us), *kept = await look.execute()
    now_ms = now_s * 1000 + now_us // 1000
    return {
        slot: int(each[b"owner"].rpartition(b"-")[2])
        for slot, each in enumerate(kept)
        if int(each.get(b"until", 0)) > now_ms
    }


def freeze(engine: Engine) -> None:
    """Stop a process in its tracks (SIGSTOP)."""
    os.kill(engine.pid, signal.SIGSTOP)


def thaw(engine: Engine) -> None:
    """Let it go on as if nothing had been (SIGCONT)."""
    if engine.running():
        os.kill(engine.pid, signal.SIGCONT)
