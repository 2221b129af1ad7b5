"""The RPCs of two engines over one store; each owns one of the two shards of a node."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from aiohttp import web

from engine.rpc.handlers.cluster.report import ClusterPlace
from engine.runtime.cluster.membership import Peer
from tests.harness.ports import free_port
from tests.harness.rpc.scene import SLOTS, RpcScene
from tests.harness.store.unreliable_memory import UnreliableStore
from wire.call_id_format import call_id
from wire.shard import ShardId


class StaticShardDirectory:
    """The owners of shards, set by hand: URLs by shard."""

    def __init__(self) -> None:
        self.where: dict[ShardId, str] = {}
        self.mine: set[ShardId] = set()
        self.is_leaving = False
        self.wakes = 0

    @property
    def is_settled(self) -> bool:
        """Whether each shard has an owner."""
        return self.mine | self.where.keys() == {ShardId("pbx1", slot) for slot in range(SLOTS)}

    def wake(self) -> None:
        """Count the refreshes."""
        self.wakes += 1

    @property
    def peer_urls(self) -> list[str]:
        """The URLs of the other engines."""
        return sorted({*self.where.values()})

    def url_of(self, shard: ShardId | None) -> str | None:
        """Return the URL of the shard's owner, or of any other engine."""
        return next(iter(self.where.values()), None) if shard is None else self.where.get(shard)


class EnginePair:
    """Engine `one` owns the shard of slot 0, engine `two` that of slot 1."""

    def __init__(self) -> None:
        store = UnreliableStore()
        self.one, self.two = RpcScene(store), RpcScene(store)
        self.heartbeats = {
            name: Peer(scene.url, {f"pbx1/{slot}": 0}, capacity=10)
            for slot, (name, scene) in enumerate((("one", self.one), ("two", self.two)))
        }
        for name, scene in (("one", self.one), ("two", self.two)):
            scene.place = ClusterPlace(name, scene.url, others=partial(self.others_of, name))
        self.directories = {self.one: StaticShardDirectory(), self.two: StaticShardDirectory()}

    def others_of(self, name: str) -> dict[str, Peer]:
        """Return the heartbeats that an engine reads of the others."""
        return {other: each for other, each in self.heartbeats.items() if other != name}

    async def open(self, stack: AsyncExitStack, folder: Path) -> None:
        """Start both engines."""
        for slot, scene in enumerate((self.one, self.two)):
            await scene.open(stack, folder / str(slot), (slot,), self.directories[scene])
            self.directories[scene].mine = {ShardId("pbx1", slot)}
        for scene, slot, other in ((self.one, 1, self.two), (self.two, 0, self.one)):
            where = {ShardId("pbx1", slot): other.url}
            self.directories[scene].where = scene.cluster.shards = where


@asynccontextmanager
async def running_pair(folder: Path) -> AsyncIterator[EnginePair]:
    """Run two engines."""
    async with AsyncExitStack() as stack:
        pair = EnginePair()
        await pair.open(stack, folder)
        yield pair


async def request_of(pair: EnginePair, slot: int) -> str:
    """Return a requestId whose call belongs to the shard of a slot."""
    name = f"request_of_{slot}"
    await pair.one.store.reserve_request(name, call_id(ShardId("pbx1", slot), name))
    return name


class BrokenEngine:
    """An engine that closes the connection instead of responding to a request."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Record a request and close the connection."""
        self.requests.append(f"{request.method} {request.path}")
        assert request.transport is not None
        request.transport.close()
        return web.Response()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["BrokenEngine"]:
        """Serve within the context."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.serve)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        try:
            yield self
        finally:
            await runner.cleanup()
