"""Which nodes are drained, over both stores."""

import asyncio

from engine.runtime.nodes.drains import DrainedNodes
from engine.store.errors import StoreDown
from engine.store.memory.store import MemoryStore
from engine.store.store import Store
from tests.harness.until import until


async def test_drained_nodes_are_kept(store: Store) -> None:
    """Each as often as one likes; others stay as they are."""
    assert await store.drained() == frozenset()
    await store.put_drained("pbx1", True)
    await store.put_drained("pbx1", True)
    await store.put_drained("pbx2", True)
    assert await store.drained() == {"pbx1", "pbx2"}
    await store.put_drained("pbx1", False)
    await store.put_drained("pbx1", False)
    assert await store.drained() == {"pbx2"}


class Absent(MemoryStore):
    """A store that can be away."""

    away = False

    async def drained(self) -> frozenset[str]:
        """Read, unless away."""
        if self.away:
            raise StoreDown("away")
        return await super().drained()


async def test_all_engines_learn_of_it() -> None:
    """Soon; while the store is away nothing changes."""
    store = Absent()
    here, there = DrainedNodes(store), DrainedNodes(store)
    task = asyncio.get_running_loop().create_task(there.run())
    await here.set_drained("pbx1", True)
    assert here.nodes == {"pbx1"}
    await until(lambda: there.nodes == {"pbx1"})
    store.away = True
    await asyncio.wait([task], timeout=0.6)
    assert there.nodes == {"pbx1"}
    assert not task.done()
    task.cancel()
