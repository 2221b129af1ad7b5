"""The set of drained nodes, kept in the store; every engine polls it within a second."""

import asyncio

import structlog

from engine.store.errors import StoreDown
from engine.store.store import Store

log = structlog.get_logger()
POLL_INTERVAL_S = 0.5


class DrainedNodes:
    """The drained nodes as last read; unchanged while the store is down."""

    def __init__(self, store: Store) -> None:
        self.nodes: frozenset[str] = frozenset()
        self._store = store

    async def run(self) -> None:
        while True:
            try:
                await self.refresh()
            except StoreDown as error:
                log.info("drained nodes not read", error=str(error))
            await asyncio.sleep(POLL_INTERVAL_S)

    async def refresh(self) -> None:
        """Read the drained nodes; raises StoreDown."""
        drained = await self._store.drained()
        for node in sorted(drained ^ self.nodes):
            log.info("node drained" if node in drained else "node undrained", node=node)
        self.nodes = drained

    async def set_drained(self, node: str, is_drained: bool) -> None:
        """Drain a node, or end its drain; raises StoreDown."""
        await self._store.put_drained(node, is_drained)
        await self.refresh()
