"""The leases of this engine's shards: claim, renew, release, and react to their loss.

A lease starts when its renewal was requested, not when the reply came, and ends a little early:
until then no other engine can have the shard.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any

import structlog

from engine.runtime.cluster.context import ClusterContext
from engine.runtime.cluster.lease import Lease
from engine.store.errors import CommitsLost, StoreDown
from wire.shard import ShardId

log = structlog.get_logger()
CHANGES = ("acquired", "lost", "released", "paused", "restored")


class LeaseOperations:
    """The held leases, by shard.

    `on_suspect` gets a shard that another engine may have; `on_store_lost` is called when the store
    has lost changes; `announce` tells the other engines which shards are held.
    """

    def __init__(
        self,
        context: ClusterContext,
        on_suspect: Callable[[ShardId], None],
        on_store_lost: Callable[[], None],
        announce: Callable[[], Awaitable[None]],
    ) -> None:
        self.held: dict[ShardId, Lease] = {}
        self._on_suspect = on_suspect
        self._on_store_lost = on_store_lost
        self._announce = announce
        self._store = context.store
        self._engine = context.members.me
        self._host = context.host
        self._timings = context.timings
        self._monotonic = context.monotonic
        self._changes = context.metrics.store.shard_changes
        self._paused: set[ShardId] = set()

    async def claim(self, shard: ShardId, holder: str = "") -> Lease | None:
        """Claim a shard; None while another engine has it, `holder` if it says so (see Store).

        Raises StoreDown.
        """
        ends_s = self._ends_s()
        token = await self._store.claim(shard, self._engine, self._timings.lease_ms, holder)
        if token is None:
            return None
        self._forget(shard)
        for change in CHANGES:  # shown as zero from the start
            self._changes.initialize(shard.node, shard.slot, change)
        suspect = partial(self._on_suspect, shard)
        lease = self.held[shard] = Lease(
            token, ends_s, self._monotonic, suspect, self._timings.valid_s
        )
        return lease

    async def take(self, claimed: Sequence[tuple[ShardId, Lease]]) -> None:
        """Continue the calls of claimed shards, if there are any; raises StoreDown."""
        await _run_all([self._take(shard, lease) for shard, lease in claimed])

    async def renew(self) -> None:
        """Renew all leases; drop the shards that another engine has by now. Raises StoreDown."""
        await _run_all([self._renew(shard, lease) for shard, lease in self.held.items()])

    async def release(self, *shards: ShardId) -> None:
        """Release shards once their changes are stored; raises StoreDown."""
        await _run_all([self._release(shard) for shard in shards])

    def pause(self, shard: ShardId) -> None:
        """Pause a shard until its lease is renewed."""
        if shard not in self._paused:
            self._paused.add(shard)
            self._count(shard, "paused")
            self._host.pause(shard)

    def pause_expired(self) -> None:
        for shard, lease in self.held.items():
            if not lease.holds:
                self.pause(shard)

    async def _take(self, shard: ShardId, lease: Lease) -> None:
        try:
            await self._host.take(shard, lease)
        except StoreDown:
            self._lose(shard)
            raise
        self._count(shard, "acquired")

    async def _renew(self, shard: ShardId, lease: Lease) -> None:
        ends_s = self._ends_s()
        if await self._is_renewed(shard, lease):
            if not lease.holds:
                self.pause(shard)  # its shards may have paused by themselves already
            lease.extend(ends_s)
            self._resume(shard)
        elif await self._store.owner(shard) in {"", self._engine}:
            await self._reclaim(shard)
        else:
            self._lose(shard)

    async def _is_renewed(self, shard: ShardId, lease: Lease) -> bool:
        number = self._host.last_commit(shard)
        try:
            return await self._store.renew(shard, lease.token, self._timings.lease_ms, number)
        except CommitsLost:
            self._rewrite(shard)
            return True

    def _rewrite(self, shard: ShardId) -> None:
        """Store lost changes again: the store failed over to a replica that lacked them."""
        log.error("store lost changes", shard=str(shard), calls=self._host.calls(shard))
        self._count(shard, "restored")
        self._on_store_lost()
        self._host.rewrite_lost(shard)

    async def _reclaim(self, shard: ShardId) -> None:
        """Claim a shard that the store has lost, and store its calls again from memory."""
        log.error("store lost a shard", shard=str(shard), calls=self._host.calls(shard))
        self._count(shard, "restored")
        self._on_store_lost()
        lease = await self.claim(shard)
        if lease is None:
            self._lose(shard)
            return
        await self._host.restore(shard, lease)

    async def _release(self, shard: ShardId) -> None:
        log.info("shard released", shard=str(shard), calls=self._host.calls(shard))
        self._count(shard, "released")
        await self._host.drain(shard)
        lease = self.held[shard]
        self._forget(shard)
        self._host.drop(shard)
        # The release wakes the others, and they plan with what each engine says it has.
        await self._announce()
        await self._store.renew(shard, lease.token, 0)

    def _lose(self, shard: ShardId) -> None:
        log.warning("shard lost", shard=str(shard), calls=self._host.calls(shard))
        self._count(shard, "lost")
        self._forget(shard)
        self._host.drop(shard)

    def _forget(self, shard: ShardId) -> None:
        if lease := self.held.pop(shard, None):
            lease.end()
        self._paused.discard(shard)

    def _resume(self, shard: ShardId) -> None:
        if shard in self._paused:
            self._paused.discard(shard)
            self._host.resume(shard)

    def _count(self, shard: ShardId, change: str) -> None:
        self._changes.table(shard.node, shard.slot)[change] += 1

    def _ends_s(self) -> float:
        return self._monotonic() + self._timings.valid_s


async def _run_all(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Wait until all of it has ended, even if some fails; raises the first failure."""
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if outcome is not None:
            raise outcome
