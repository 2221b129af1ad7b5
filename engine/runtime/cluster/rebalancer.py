"""An engine's share of the slots: what is too much is given back, what is lacking is claimed.

A slot changes hands one at a time, and only while somebody takes it: who died a moment ago is still
counted, and would have the calls of slots stand still that are given back for it.
"""

from collections.abc import Callable
from math import inf

import structlog

from engine.runtime.cluster.lease import Lease
from engine.runtime.cluster.membership import Peers
from engine.runtime.cluster.slot_leases import Leases
from engine.runtime.cluster.timings import Rhythm, Slots
from engine.store.store import Store

log = structlog.get_logger()
UNSTEADY_LEASES = 3


class Share:
    """Brings what one engine holds nearer to its share, beat after beat."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        store: Store,
        peers: Peers,
        leases: Leases,
        *,
        slots: Slots,
        count: int,
        rhythm: Rhythm,
        monotonic: Callable[[], float],
    ) -> None:
        self._store = store
        self._peers = peers
        self._leases = leases
        self._slots = slots
        self._count = count
        self._rhythm = rhythm
        self._monotonic = monotonic
        self._offered: int | None = None  # the slot that was given back last
        self._gives_from_s = 0.0
        self._connections = 0
        self._connected_s = self._unsteady_since_s = -inf
        self._claims_from_s = 0.0
        self._claims_lost_from_s = 0.0

    @property
    def is_fair(self) -> bool:
        """Whether this engine has no less than others may have."""
        return len(self._leases.held) >= self._peers.fair(self._count)[0]

    def look_at_connection(self) -> None:
        """Claim nothing for a while on a new one: its server may lack a renewal (decision 0030).

        Nor is anything offered, which nobody would take. One that breaks again and again is waited
        for no longer than `UNSTEADY_LEASES`: slots of the dead are somebody's then all the same.
        """
        before, self._connections = self._connections, self._store.connections
        if before in {0, self._connections}:
            return
        now_s, lease_s = self._monotonic(), self._rhythm.lease_s
        if now_s - self._connected_s >= lease_s:
            self._unsteady_since_s = now_s
        self._connected_s = now_s
        until_s = min(now_s, self._unsteady_since_s + (UNSTEADY_LEASES - 1) * lease_s) + lease_s
        self._claims_from_s = until_s
        self._gives_from_s = max(self._gives_from_s, until_s + self._rhythm.beat_s)

    def wait_for_others(self) -> None:
        """Leave others the time to store again what the store may have lost of theirs."""
        self._claims_lost_from_s = self._monotonic() + self._rhythm.lease_s

    async def give_back(self) -> None:
        """Give one slot too many back, and the next a beat later: no engine is flooded."""
        held = self._leases.held
        if held and (missed := self._peers.missed):
            log.warning("other engines reach a node that this one does not", nodes=sorted(missed))
            await self._leases.give_back(*held)
        is_time = self._monotonic() >= self._gives_from_s
        if is_time and await self._was_taken() and self._has_too_many:
            await self._offer(min(held, key=self._slots.calls))

    async def claim(self) -> bool:
        """Claim free slots, up to this engine's share; tells whether any was to be had."""
        if self._lacking <= 0 or self._is_waiting:
            return False
        lacking, taken = self._lacking, list[tuple[int, Lease]]()
        try:
            for slot in [each for each in range(self._count) if each not in self._leases.held]:
                if len(taken) < lacking and await self._is_to_be_had(slot):
                    lease = await self._claimed(slot)
                    if lease is not None:
                        taken.append((slot, lease))
        finally:  # what is held is gone on with, also when no more could be claimed
            await self._leases.take(taken)
        return bool(taken)

    @property
    def _is_waiting(self) -> bool:
        return self._monotonic() < self._claims_from_s

    @property
    def _has_too_many(self) -> bool:
        """Whether somebody fares better for one less: else a slot would only change its place."""
        most = self._peers.fair(self._count)[1]
        return len(self._leases.held) > most or (
            self._lacking < 0 and self._peers.lack(self._count)
        )

    @property
    def _lacking(self) -> int:
        return self._peers.share(self._count) - len(self._leases.held)

    async def _claimed(self, slot: int) -> Lease | None:
        return await self._leases.claim(slot, self._peers.holder(slot))

    async def _offer(self, slot: int) -> None:
        self._gives_from_s = self._monotonic() + self._rhythm.beat_s
        self._offered = slot
        await self._leases.give_back(slot)

    async def _was_taken(self) -> bool:
        """Tell whether somebody has the slot that was given back last; if not, go on with it."""
        slot = self._offered
        if slot is None or slot in self._leases.held:
            return True
        if self._is_waiting:
            return False
        lease = await self._claimed(slot)
        self._offered = None  # now, not before: the store may have been away
        if lease is None:
            return True
        log.warning("nobody took a slot that was given back", slot=slot)
        self._gives_from_s = self._monotonic() + self._rhythm.lease_s  # by then the dead are known
        await self._leases.take([(slot, lease)])
        return False

    async def _is_to_be_had(self, slot: int) -> bool:
        """Tell whether nobody is waited for who has a slot that the store may have lost."""
        is_waiting = self._monotonic() < self._claims_lost_from_s
        return not is_waiting or await self._store.owner(slot) != ""
