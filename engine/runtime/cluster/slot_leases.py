"""The leases of this engine: claimed, renewed, lost and given back, and what its slots do then.

A lease counts from before its renewal was asked for, and ends a little early: nobody else can have
the slot yet.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import structlog

from engine.observe.metrics import Meter
from engine.runtime.cluster.lease import Lease
from engine.runtime.cluster.timings import Rhythm, Slots
from engine.store.errors import Rewound, StoreDown
from engine.store.store import Store

log = structlog.get_logger()
CHANGES = ("acquired", "lost", "released", "paused", "restored")


class Leases:
    """Those of the slots held, by slot; `me` is as whom they are claimed."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        store: Store,
        me: str,
        *,
        slots: Slots,
        rhythm: Rhythm,
        monotonic: Callable[[], float],
        meter: Meter,
    ) -> None:
        self.held: dict[int, Lease] = {}
        self.on_forgotten: Callable[[], None] = _nothing  # the store has lost what it knew
        self._store = store
        self._me = me
        self._slots = slots
        self._rhythm = rhythm
        self._monotonic = monotonic
        self._changes = meter.store.slots
        self._paused: set[int] = set()

    def count_from_zero(self, slots: int) -> None:
        """Let every change of every slot be counted, also those that never come."""
        for slot in range(slots):
            for change in CHANGES:
                self._changes.begin(slot, change)

    async def claim(self, slot: int, holder: str = "") -> Lease | None:
        """Hold a slot; None while it is another's; `holder` says that he has it (see Store).

        Raises StoreDown.
        """
        ends_s = self._ends_s()
        token = await self._store.claim(slot, self._me, self._rhythm.lease_ms, holder)
        if token is None:
            return None
        self._forget(slot)
        lease = self.held[slot] = Lease(token, ends_s, self._monotonic)
        return lease

    async def take(self, claimed: Sequence[tuple[int, Lease]]) -> None:
        """Go on with the calls of slots that were claimed; has none that raises StoreDown."""
        await _all([self._taken(slot, lease) for slot, lease in claimed])

    async def renew(self) -> None:
        """Let all last; those that are another's by now are dropped. Raises StoreDown."""
        await _all([self._renewed(slot, lease) for slot, lease in self.held.items()])

    async def give_back(self, *slots: int) -> None:
        """Leave slots to others, with all that was decided stored; raises StoreDown."""
        await _all([self._given_back(slot) for slot in slots])

    def pause(self, slot: int) -> None:
        """Let a slot stand still until its lease has been renewed."""
        if slot not in self._paused:
            self._paused.add(slot)
            self._changed(slot, "paused")
            self._slots.pause(slot)

    def pause_if_over(self) -> None:
        """Let those stand still whose leases have run out."""
        for slot, lease in self.held.items():
            if not lease.holds:
                self.pause(slot)

    async def _taken(self, slot: int, lease: Lease) -> None:
        try:
            await self._slots.take(slot, lease)
        except StoreDown:
            self._lose(slot)
            raise
        self._changed(slot, "acquired")

    async def _renewed(self, slot: int, lease: Lease) -> None:
        ends_s = self._ends_s()
        if await self._is_renewed(slot, lease):
            if not lease.holds:
                self.pause(slot)  # its desks may have stood still already
            lease.lasts(ends_s)
            self._go_on(slot)
        elif await self._store.owner(slot) in {"", self._me}:
            await self._found_again(slot)
        else:
            self._lose(slot)

    async def _is_renewed(self, slot: int, lease: Lease) -> bool:
        number = self._slots.number(slot)
        try:
            return await self._store.renew(slot, lease.token, self._rhythm.lease_ms, number)
        except Rewound:
            self._rewound(slot)
            return True

    def _rewound(self, slot: int) -> None:
        """Store anew what was lost: the store failed over to one that had not heard of it."""
        log.error("the store has lost changes", slot=slot, calls=self._slots.calls(slot))
        self._changed(slot, "restored")
        self.on_forgotten()
        self._slots.write_again(slot)

    async def _found_again(self, slot: int) -> None:
        """Claim a slot that the store knows nothing of any more; what it lost is in memory here."""
        log.error("the store has lost a slot", slot=slot, calls=self._slots.calls(slot))
        self._changed(slot, "restored")
        self.on_forgotten()
        lease = await self.claim(slot)
        if lease is None:
            self._lose(slot)
            return
        await self._slots.store_again(slot, lease)

    async def _given_back(self, slot: int) -> None:
        log.info("slot given back", slot=slot, calls=self._slots.calls(slot))
        self._changed(slot, "released")
        await self._slots.settled(slot)
        lease = self.held[slot]
        self._forget(slot)
        self._slots.drop(slot)
        await self._store.renew(slot, lease.token, 0)

    def _lose(self, slot: int) -> None:
        log.warning("slot lost", slot=slot, calls=self._slots.calls(slot))
        self._changed(slot, "lost")
        self._forget(slot)
        self._slots.drop(slot)

    def _forget(self, slot: int) -> None:
        if lease := self.held.pop(slot, None):
            lease.end()
        self._paused.discard(slot)

    def _go_on(self, slot: int) -> None:
        if slot in self._paused:
            self._paused.discard(slot)
            self._slots.go_on(slot)

    def _changed(self, slot: int, change: str) -> None:
        self._changes.of(slot)[change] += 1

    def _ends_s(self) -> float:
        return self._monotonic() + self._rhythm.ours_s


def _nothing() -> None:
    """Nobody minds."""


async def _all(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Wait until all of it has ended, also when some of it fails; raises the first failure."""
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if outcome is not None:
            raise outcome
