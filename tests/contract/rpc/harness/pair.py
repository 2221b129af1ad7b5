"""Two engines' RPCs over one store; each has one of the two slots, and knows the other."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from aiohttp import web

from engine.calls.model.ids import slot_of
from tests.contract.rpc.harness.bench import SLOTS, Bench
from tests.contract.store.unreliable_memory import UnreliableStore
from tests.harness.ports import free_port


class StaticSlotDirectory:
    """Who has which slot, set by hand: addresses by slot."""

    def __init__(self) -> None:
        self.where: dict[int, str] = {}
        self.mine: set[int] = set()
        self.is_leaving = False
        self.wakes = 0

    @property
    def is_settled(self) -> bool:
        """Whether each slot is somebody's."""
        return self.mine | self.where.keys() == {*range(SLOTS)}

    def wake(self) -> None:
        """Count how often somebody wanted to know."""
        self.wakes += 1

    @property
    def peer_urls(self) -> list[str]:
        """Tell where the others are."""
        return sorted({*self.where.values()})

    def url_of(self, slot: int | None) -> str | None:
        """Tell where a slot's engine is, or any's."""
        return next(iter(self.where.values()), None) if slot is None else self.where.get(slot)


class EnginePair:
    """Engine `one` with slot 0 and `two` with slot 1."""

    def __init__(self) -> None:
        store = UnreliableStore()
        self.one, self.two = Bench(store), Bench(store)
        self.directories = {self.one: StaticSlotDirectory(), self.two: StaticSlotDirectory()}

    async def open(self, stack: AsyncExitStack, folder: Path) -> None:
        """Start both."""
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
    """Give a requestId whose call falls to a slot."""
    names = (f"request{number:04}" for number in range(100))
    return next(name for name in names if slot_of(name, SLOTS) == slot)


class BrokenEngine:
    """An engine that takes requests and breaks off: nobody knows whether it has done them."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Take a request, and break off."""
        self.requests.append(f"{request.method} {request.path}")
        assert request.transport is not None
        request.transport.close()
        return web.Response()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["BrokenEngine"]:
        """Serve for as long as the context lasts."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.serve)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        try:
            yield self
        finally:
            await runner.cleanup()
