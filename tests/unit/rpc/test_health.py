"""Readiness: whether the engine can take calls."""

from collections.abc import Awaitable, Callable

from aiohttp.test_utils import make_mocked_request

from engine.rpc.health import health_routes
from tests.harness.memory_store.store import MemoryStore
from tests.harness.rpc.other_engines import SingleEngine
from tests.harness.runtime.owner_scene import SHARD, OwnerScene


class BusyStore(MemoryStore):
    """A store that something happens at before it answers a ping."""

    def __init__(self, meanwhile: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self._meanwhile = meanwhile

    async def ping(self) -> None:
        """Answer."""
        await self._meanwhile()


async def test_shards_that_are_taken_meanwhile_count() -> None:
    """Their node is not connected yet: a call would be rejected."""
    scene = OwnerScene()

    async def take() -> None:
        await scene.owner.take(SHARD, await scene.lease())

    _alive, ready = health_routes(scene.service, BusyStore(take), SingleEngine())
    response = await ready.handler(make_mocked_request("GET", "/readyz"))
    await scene.tasks.close()
    assert response.status == 503
