"""Real engines and a real Valkey over several simulated nodes, with calls that wait."""

import asyncio
import re
import secrets
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import aiohttp
from msgspec import Struct
from redis.asyncio import Redis

from dev.servers.server import Server
from tests.harness.servers.engine import Engine
from tests.harness.servers.valkey import Valkey
from tests.harness.until import until
from tools.bench.engine.simulated import LIMITS, ROOT, SimulatedPbxProcess
from tools.bench.engine.simulated_call import Script
from tools.bench.engine.simulated_calls import Load
from tools.bench.ivr.prompts import serve_folder, write_prompts

NUMBER = "+15550704"
GATHER_MS = 600_000
# As docs/operations/sizing.md recommends; leftover recordings are looked for as by default.
SETTINGS = {**LIMITS, "SWITCHROOM_SLOTS": "4", "SWITCHROOM_RECORDINGS_S": "30"}
RATE = 200  # new calls a second, over all nodes
ROUNDS = 6  # of loads, until all calls wait
PATIENCE_S = 20
_waiting = re.compile(
    rb'^switchroom_calls\{[^}]*state="gathering"[^}]*\} ([\d.e+]+)$', re.MULTILINE
)


class Layout(Struct, frozen=True):
    """How many engines, nodes, and waiting calls of all engines."""

    engines: int
    nodes: int
    calls: int


class StoreUse(Struct, frozen=True):
    """Memory and connections of a Valkey server."""

    memory: int
    connections: int


class SimulatedNode(SimulatedPbxProcess):
    """A simulated PBX with AMI, on any CPU."""

    def command(self) -> Sequence[str]:
        """Return the command."""
        return (*self._program(), str(self.ports.ari), str(self.ports.ami))


class MeteredEngine(Engine):
    """An engine whose event loop is measured; six of them start on few cores."""

    ready_within_s = 90

    def command(self) -> Sequence[str]:
        """Return the command."""
        return (sys.executable, "-m", "tools.bench.engine.metered_engine")

    def environment(self) -> Mapping[str, str]:
        """Return the settings and the import path."""
        return {**super().environment(), "PYTHONPATH": str(ROOT)}


class ScaleCluster(Struct, frozen=True):
    """The running processes."""

    engines: tuple[Engine, ...]
    nodes: tuple[SimulatedNode, ...]
    valkey: Valkey

    async def store(self) -> StoreUse:
        """Return what the engines use of the store."""
        client = Redis.from_url(self.valkey.url)
        try:
            found = await client.info()
        finally:
            await client.aclose()
        return StoreUse(found["used_memory"], found["connected_clients"] - 1)

    async def hold(self, calls: int) -> list[int]:
        """Let calls wait; return how many each engine has: a few more, or fewer if it is busy."""
        for _ in range(ROUNDS):
            missing = calls - sum(await self.waiting())
            if missing <= 0:
                break
            seconds = max(missing / RATE, 1.0)
            load = Load(
                (Script(NUMBER, digits=""),),
                seconds=seconds,
                rate=(missing / len(self.nodes) + 1) / seconds,  # the last one may come too late
                hold=True,
            )
            await asyncio.gather(*(node.run(load) for node in self.nodes))
            with suppress(TimeoutError):  # a busy machine rejects some: the next round adds them
                await until(
                    lambda: self._have(calls), timeout_s=PATIENCE_S, every_s=0.5, what="the calls"
                )
        return await self.waiting()

    async def _have(self, calls: int) -> bool:
        return sum(await self.waiting()) >= calls

    async def waiting(self) -> list[int]:
        """Return the waiting calls of each engine."""
        pages = await asyncio.gather(*(page(each, "/metrics") for each in self.engines))
        return [int(sum(map(float, _waiting.findall(text)))) for text in pages]

    async def websockets(self) -> list[int]:
        """Return the websockets of each engine to all nodes."""
        ports = [await node.websocket_ports() for node in self.nodes]
        opened = frozenset().union(*ports)
        return [len(opened & local_ports(each.pid)) for each in self.engines]


async def page(engine: Engine, path: str) -> bytes:
    """Return a page that needs no token."""
    async with aiohttp.ClientSession() as session, session.get(engine.url + path) as reply:
        return await reply.read()


def local_ports(pid: int) -> frozenset[int]:
    """Return the local TCP ports of a process, of IPv4."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            inodes.add(str(link.readlink()).removeprefix("socket:[").removesuffix("]"))
    rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return frozenset(int(row[1].partition(":")[2], 16) for row in rows if row[9] in inodes)


@asynccontextmanager
async def scale_cluster(folder: Path, layout: Layout) -> AsyncIterator[ScaleCluster]:
    """Run the processes of a layout, and end them without a takeover."""
    prompts, token = folder / "prompts", secrets.token_hex(16)
    write_prompts(prompts)
    nodes = tuple(
        SimulatedNode(folder / f"pbx{number}", name=f"pbx{number}")
        for number in range(1, layout.nodes + 1)
    )
    valkey = Valkey(folder / "valkey")
    engines = tuple(
        MeteredEngine(
            folder / f"engine{number}", valkey=valkey, nodes=nodes, settings=SETTINGS, token=token
        )
        for number in range(1, layout.engines + 1)
    )
    async with AsyncExitStack() as stack:
        audio = await stack.enter_async_context(serve_folder(prompts))
        await _start(stack, (valkey, *nodes))
        await _start(stack, engines)
        gather = {"type": "gather", "data": {"timeout": GATHER_MS}}
        play = {"audioUrl": f"{audio}/first.wav"}
        action = {"type": "play", "data": play, "action": gather}
        await engines[0].documents.route(NUMBER, {"account": "bench", "action": action})
        yield ScaleCluster(engines, nodes, valkey)


async def _start(stack: AsyncExitStack, servers: Sequence[Server]) -> None:
    """Start servers concurrently; each is killed by its id at the end, even if one fails."""
    for each in servers:
        stack.push_async_callback(each.kill)
    await asyncio.gather(*(each.start() for each in servers))
