"""Waits for the last engine that owns slots of all nodes, then converts what it has stored.

See decision 0058.
"""

import asyncio

import structlog

from engine.runtime.cluster.membership import Membership
from engine.store.errors import StoreDown
from engine.store.store import Store

log = structlog.get_logger()
RETRY_DELAY_S = 5.0


class LayoutUpgrade:
    """While engines of an earlier version live, this one owns nothing and forwards requests."""

    def __init__(self, store: Store, members: Membership) -> None:
        self._store = store
        self._members = members
        self._done = asyncio.Event()
        self.is_waiting = False  # for engines of an earlier version

    @property
    def is_done(self) -> bool:
        """Whether this engine may own shards."""
        return self._done.is_set()

    async def run(self, home: str) -> bool:
        """Convert the layout if possible; returns whether this engine may own shards.

        `home` is the node whose shards get what is not stored by node. Raises StoreDown.
        """
        if self._done.is_set():
            return True
        earlier = await self._store.earlier_engines()
        self._members.update_earlier(earlier)
        if earlier:
            if not self.is_waiting:
                log.warning("engines of an earlier version own all calls", engines=sorted(earlier))
            self.is_waiting = True
            return False
        try:
            await self._store.convert_layout(home)
        except StoreDown as error:
            log.info("earlier layout not converted", error=str(error))
            raise
        self.is_waiting = False
        self._done.set()
        return True

    async def finish(self) -> None:
        """Move ended calls, too, while this engine serves live ones."""
        await self._done.wait()
        while True:
            try:
                await self._store.move_ended_calls()
            except StoreDown as error:
                log.info("ended calls of the earlier layout not moved", error=str(error))
                await asyncio.sleep(RETRY_DELAY_S)
            else:
                return
