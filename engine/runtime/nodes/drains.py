"""Which nodes are drained: kept in the store, and looked up by every engine within a second."""

import asyncio
from typing import Protocol

import structlog

from engine.store.errors import StoreDown

log = structlog.get_logger()
POLL_INTERVAL_S = 0.5


class DrainStore(Protocol):
    """Where it is kept."""

    async def put_drained(self, node: str, is_drained: bool) -> None:
        """Note that a node gets no new calls, or that it gets them again."""

    async def drained(self) -> frozenset[str]:
        """Name the nodes that get none."""


class DrainedNodes:
    """What is known of it; it stays so while the store is away."""

    def __init__(self, store: DrainStore) -> None:
        self.nodes: frozenset[str] = frozenset()
        self._store = store

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            try:
                await self.refresh()
            except StoreDown as error:
                log.info("drained nodes not read", error=str(error))
            await asyncio.sleep(POLL_INTERVAL_S)

    async def refresh(self) -> None:
        """Read which nodes are drained; raises StoreDown."""
        found = await self._store.drained()
        for node in sorted(found ^ self.nodes):
            log.info("node drained" if node in found else "node undrained", node=node)
        self.nodes = found

    async def set_drained(self, node: str, is_drained: bool) -> None:
        """Drain a node, or end that; raises StoreDown."""
        await self._store.put_drained(node, is_drained)
        await self.refresh()
