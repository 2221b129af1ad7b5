"""The leases of this engine's slots: claim, renew, release, and react to their loss.

A lease starts when its renewal was requested, not when the reply came, and ends a little early:
until then no other engine can have the slot.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

import structlog

from engine.runtime.cluster.context import ClusterContext
from engine.runtime.cluster.lease import Lease
from engine.store.errors import CommitsLost, StoreDown

log = structlog.get_logger()
CHANGES = ("acquired", "lost", "released", "paused", "restored")


class LeaseOperations:
    """The held leases, by slot.

    `on_suspect` gets a slot that another engine may have; `on_store_lost` is called when the store
    has lost changes.
    """

    def __init__(
        self,
        context: ClusterContext,
        on_suspect: Callable[[int], None],
        on_store_lost: Callable[[], None],
    ) -> None:
        self.held: dict[int, Lease] = {}
        self._on_suspect = on_suspect
        self._on_store_lost = on_store_lost
        self._store = context.store
        self._engine = context.members.me
        self._host = context.host
        self._timings = context.timings
        self._monotonic = context.monotonic
        self._changes = context.metrics.store.slot_changes
        self._paused: set[int] = set()
        for slot in range(context.slots):
            for change in CHANGES:  # shown as zero from the start
                self._changes.initialize(slot, change)

    async def claim(self, slot: int, holder: str = "") -> Lease | None:
        """Claim a slot; None while another engine has it, `holder` if it says so (see Store).

        Raises StoreDown.
        """
        ends_s = self._ends_s()
        token = await self._store.claim(slot, self._engine, self._timings.lease_ms, holder)
        if token is None:
            return None
        self._forget(slot)
        suspect = partial(self._on_suspect, slot)
        lease = self.held[slot] = Lease(token, ends_s, self._monotonic, suspect)
        return lease

    async def take(self, claimed: Sequence[tuple[int, Lease]]) -> None:
        """Continue the calls of claimed slots, if there are any; raises StoreDown."""
        await _run_all([self._take(slot, lease) for slot, lease in claimed])

    async def renew(self) -> None:
        """Renew all leases; drop the slots that another engine has by now. Raises StoreDown."""
        await _run_all([self._renew(slot, lease) for slot, lease in self.held.items()])

    async def release(self, *slots: int) -> None:
        """Release slots once their changes are stored; raises StoreDown."""
        await _run_all([self._release(slot) for slot in slots])

    def pause(self, slot: int) -> None:
        """Pause a slot until its lease is renewed."""
        if slot not in self._paused:
            self._paused.add(slot)
            self._count(slot, "paused")
            self._host.pause(slot)

    def pause_expired(self) -> None:
        for slot, lease in self.held.items():
            if not lease.holds:
                self.pause(slot)

    async def _take(self, slot: int, lease: Lease) -> None:
        try:
            await self._host.take(slot, lease)
        except StoreDown:
            self._lose(slot)
            raise
        self._count(slot, "acquired")

    async def _renew(self, slot: int, lease: Lease) -> None:
        ends_s = self._ends_s()
        if await self._is_renewed(slot, lease):
            if not lease.holds:
                self.pause(slot)  # its shards may have paused by themselves already
            lease.extend(ends_s)
            self._resume(slot)
        elif await self._store.owner(slot) in {"", self._engine}:
            await self._reclaim(slot)
        else:
            self._lose(slot)

    async def _is_renewed(self, slot: int, lease: Lease) -> bool:
        number = self._host.last_commit(slot)
        try:
            return await self._store.renew(slot, lease.token, self._timings.lease_ms, number)
        except CommitsLost:
            self._rewrite(slot)
            return True

    def _rewrite(self, slot: int) -> None:
        """Store lost changes again: the store failed over to a replica that lacked them."""
        log.error("store lost changes", slot=slot, calls=self._host.calls(slot))
        self._count(slot, "restored")
        self._on_store_lost()
        self._host.rewrite_lost(slot)

    async def _reclaim(self, slot: int) -> None:
        """Claim a slot that the store has lost, and store its calls again from memory."""
        log.error("store lost a slot", slot=slot, calls=self._host.calls(slot))
        self._count(slot, "restored")
        self._on_store_lost()
        lease = await self.claim(slot)
        if lease is None:
            self._lose(slot)
            return
        await self._host.restore(slot, lease)

    async def _release(self, slot: int) -> None:
        log.info("slot released", slot=slot, calls=self._host.calls(slot))
        self._count(slot, "released")
        await self._host.drain(slot)
        lease = self.held[slot]
        self._forget(slot)
        self._host.drop(slot)
        await self._store.renew(slot, lease.token, 0)

    def _lose(self, slot: int) -> None:
        log.warning("slot lost", slot=slot, calls=self._host.calls(slot))
        self._count(slot, "lost")
        self._forget(slot)
        self._host.drop(slot)

    def _forget(self, slot: int) -> None:
        if lease := self.held.pop(slot, None):
            lease.end()
        self._paused.discard(slot)

    def _resume(self, slot: int) -> None:
        if slot in self._paused:
            self._paused.discard(slot)
            self._host.resume(slot)

    def _count(self, slot: int, change: str) -> None:
        self._changes.table(slot)[change] += 1

    def _ends_s(self) -> float:
        return self._monotonic() + self._timings.valid_s


async def _run_all(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Wait until all of it has ended, even if some fails; raises the first failure."""
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if outcome is not None:
            raise outcome
