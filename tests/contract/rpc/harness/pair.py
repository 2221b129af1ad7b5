"""The RPCs of two engines over one store; each owns one of the two slots."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from aiohttp import web

from engine.calls.model.call_id_format import slot_of
from tests.contract.rpc.harness.bench import SLOTS, Bench
from tests.contract.store.unreliable_memory import UnreliableStore
from tests.harness.ports import free_port


class StaticSlotDirectory:
    """The owners of slots, set by hand: URLs by slot."""

    def __init__(self) -> None:
        self.where: dict[int, str] = {}
        self.mine: set[int] = set()
        self.is_leaving = False
        self.wakes = 0

    @property
    def is_settled(self) -> bool:
        """Whether each slot has an owner."""
        return self.mine | self.where.keys() == {*range(SLOTS)}

    def wake(self) -> None:
        """Count the refreshes."""
        self.wakes += 1

    @property
    def peer_urls(self) -> list[str]:
        """The URLs of the other engines."""
        return sorted({*self.where.values()})

    def url_of(self, slot: int | None) -> str | None:
        """Return the URL of the slot's owner, or of any other engine."""
        return next(iter(self.where.values()), None) if slot is None else self.where.get(slot)


class EnginePair:
    """Engine `one` owns slot 0, engine `two` owns slot 1."""

    def __init__(self) -> None:
        store = UnreliableStore()
        self.one, self.two = Bench(store), Bench(store)
        self.directories = {self.one: StaticSlotDirectory(), self.two: StaticSlotDirectory()}

    async def open(self, stack: AsyncExitStack, folder: Path) -> None:
        """Start both engines."""
        for slot, bench in enumerate((self.one, self.two)):
            await bench.open(stack, folder / str(slot), (slot,), self.directories[bench])
            self.directories[bench].mine = {slot}
        self.directories[self.one].where = {1: self.two.url}
        self.directories[self.two].where = {0: self.one.url}


@asynccontextmanager
async def running_pair(folder: Path) -> AsyncIterator[EnginePair]:
    """Run two engines."""
    async with AsyncExitStack() as stack:
        pair = EnginePair()
        await pair.open(stack, folder)
        yield pair


def request_of(slot: int) -> str:
    """Return a requestId whose call belongs to a slot."""
    names = (f"request{number:04}" for number in range(100))
    return next(name for name in names if slot_of(name, SLOTS) == slot)


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
