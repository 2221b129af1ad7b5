"""Drained nodes in both stores."""

import asyncio

from base.tasks import cancel_all
from engine.runtime.policy.operator_stops import DrainedNodes
from engine.store.errors import StoreDown
from engine.store.store import Store
from tests.harness.memory_store.store import MemoryStore
from tests.harness.until import until


async def test_drained_nodes_are_kept(store: Store) -> None:
    """Puts are idempotent and change one node only."""
    assert await store.drained() == frozenset()
    await store.put_drained("pbx1", True)
    await store.put_drained("pbx1", True)
    await store.put_drained("pbx2", True)
    assert await store.drained() == {"pbx1", "pbx2"}
    await store.put_drained("pbx1", False)
    await store.put_drained("pbx1", False)
    assert await store.drained() == {"pbx2"}


class FaultyStore(MemoryStore):
    """A store that can be down."""

    down = False
    refusals = 0

    async def drained(self) -> frozenset[str]:
        """Read, unless down."""
        if self.down:
            self.refusals += 1
            raise StoreDown("test fault")
        return await super().drained()


async def test_all_engines_see_drained_nodes() -> None:
    """All engines read them soon; while the store is down nothing changes."""
    store = FaultyStore()
    here, there = DrainedNodes(store), DrainedNodes(store)
    task = asyncio.get_running_loop().create_task(there.run())
    await here.set_drained("pbx1", True)
    assert here.nodes == {"pbx1"}
    await until(lambda: there.nodes == {"pbx1"})
    store.down = True
    await until(lambda: store.refusals >= 2, what="reads without the store")
    assert there.nodes == {"pbx1"}
    assert not task.done()
    await cancel_all([task])
