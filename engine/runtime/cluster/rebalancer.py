"""Moves this engine towards its fair share of the slots: releases excess, claims missing slots.

Slots are released one at a time, and only while another engine claims them: an engine that died a
moment ago still counts as a member, and calls of slots released for it would stop.
"""

from math import inf

import structlog

from engine.runtime.cluster.context import ClusterContext
from engine.runtime.cluster.lease import Lease
from engine.runtime.cluster.lease_operations import LeaseOperations

log = structlog.get_logger()
MAX_UNSTEADY_LEASES = 3


class Rebalancer:
    """Adjusts the held slots by one step per heartbeat."""

    def __init__(self, context: ClusterContext, leases: LeaseOperations) -> None:
        self._context = context
        self._store = context.store
        self._members = context.members
        self._timings = context.timings
        self._leases = leases
        self._offered: int | None = None  # the slot that was released last
        self._release_from_s = 0.0
        self._connections = 0
        self._connected_s = self._unsteady_since_s = -inf
        self._claim_from_s = 0.0
        self._claim_lost_from_s = 0.0
        self.unreadable: dict[int, int] = {}  # slots with calls of a later format, and that format

    @property
    def has_fair_share(self) -> bool:
        """Whether this engine holds as many slots as it should, or gets no more in a rollout."""
        lowest = self._members.fair_range(self._context.slots)[0]
        return len(self._leases.held) >= lowest or self._members.has_later_peers

    def check_connection(self) -> None:
        """After a reconnect, claim nothing for a while: the new server may lack a renewal.

        See decision 0030. Nothing is released either, as no engine would claim it. If the
        connection breaks again and again, claims wait for `MAX_UNSTEADY_LEASES` at most, so that
        the slots of dead engines are still taken over.
        """
        before, self._connections = self._connections, self._store.connections
        if before in {0, self._connections}:
            return
        now_s, lease_s = self._context.monotonic(), self._timings.lease_s
        if now_s - self._connected_s >= lease_s:
            self._unsteady_since_s = now_s
        self._connected_s = now_s
        until_s = min(now_s, self._unsteady_since_s + (MAX_UNSTEADY_LEASES - 1) * lease_s) + lease_s
        self._claim_from_s = until_s
        self._release_from_s = max(self._release_from_s, until_s + self._timings.heartbeat_s)

    def delay_claims(self) -> None:
        """Give other engines time to restore slots that the store may have lost."""
        self._claim_lost_from_s = self._context.monotonic() + self._timings.lease_s

    async def release_excess(self) -> None:
        """Release one excess slot, the next one a heartbeat later: no engine is flooded."""
        held = self._leases.held
        if held and (nodes := self._members.unreachable_nodes):
            log.warning(
                "node reachable by peers but not by this engine; releasing slots",
                nodes=sorted(nodes),
            )
            await self._leases.release(*held)
        await self._release_unreadable()
        is_time = self._context.monotonic() >= self._release_from_s
        if is_time and await self._was_claimed() and self._has_too_many:
            await self._release(min(held, key=self._context.host.calls))

    async def _release_unreadable(self) -> None:
        """Release the slots with calls of a later version to an engine that can read them."""
        held, host = self._leases.held, self._context.host
        self.unreadable |= {slot: need for slot in held if (need := host.required_format(slot))}
        self.unreadable = {s: need for s, need in self.unreadable.items() if self._is_unreadable(s)}
        for slot, needed in self.unreadable.items():
            if slot in held and self._members.can_read(needed):
                log.warning("slot has calls of a later version; releasing it", slot=slot)
                await self._leases.release(slot)

    def _is_unreadable(self, slot: int) -> bool:
        """Return whether a slot still has calls that this engine cannot read, or may have."""
        needed = self.unreadable[slot]
        return slot in self._leases.held or self._members.can_read(needed)

    async def claim_missing(self) -> bool:
        """Claim free slots up to this engine's fair share; returns whether it got any.

        Slots that only engines of this version can read are claimed beyond that share.
        """
        held = self._leases.held
        urgent = self._members.unreadable_slots - held.keys()
        if (self._missing <= 0 and not urgent) or self._is_waiting:
            return False
        missing, claimed = max(self._missing, 0), list[tuple[int, Lease]]()
        free = [slot for slot in range(self._context.slots) if slot not in held]
        try:
            for slot in sorted(free, key=lambda slot: slot not in urgent):
                is_wanted = slot in urgent or len(claimed) < missing
                if is_wanted and await self._is_claimable(slot):
                    lease = await self._claim(slot)
                    if lease is not None:
                        claimed.append((slot, lease))
        finally:  # continue the claimed slots even if a later claim failed
            await self._leases.take(claimed)
        return bool(claimed)

    @property
    def _is_waiting(self) -> bool:
        return self._context.monotonic() < self._claim_from_s

    @property
    def _has_too_many(self) -> bool:
        """Whether another engine gains by a release; otherwise a slot would just move."""
        if not self._members.has_taker(self._context.slots):
            return False  # the others cannot read the calls of this version
        highest = self._members.fair_range(self._context.slots)[1]
        return len(self._leases.held) > highest or (
            self._missing < 0 and self._members.has_underloaded(self._context.slots)
        )

    @property
    def _missing(self) -> int:
        """How many slots this engine lacks; negative when it has too many."""
        return self._members.fair_share(self._context.slots) - len(self._leases.held)

    async def _claim(self, slot: int) -> Lease | None:
        return await self._leases.claim(slot, self._members.holder(slot))

    async def _release(self, slot: int) -> None:
        self._release_from_s = self._context.monotonic() + self._timings.heartbeat_s
        self._offered = slot
        await self._leases.release(slot)

    async def _was_claimed(self) -> bool:
        """Return whether another engine has the slot released last; reclaim it if not."""
        slot = self._offered
        if slot is None or slot in self._leases.held:
            return True
        if self._is_waiting:
            return False
        lease = await self._claim(slot)
        self._offered = None  # only now: the store may have been down
        if lease is None:
            return True
        log.warning("released slot not claimed, reclaiming", slot=slot)
        # By then, dead engines are known.
        self._release_from_s = self._context.monotonic() + self._timings.lease_s
        await self._leases.take([(slot, lease)])
        return False

    async def _is_claimable(self, slot: int) -> bool:
        """Return False while the owner of a slot that the store may have lost may still return.

        Also for a slot with calls that only another engine can read.
        """
        if slot in self.unreadable and self._members.can_read(self.unreadable[slot]):
            return False
        is_waiting = self._context.monotonic() < self._claim_lost_from_s
        return not is_waiting or await self._store.owner(slot) != ""
