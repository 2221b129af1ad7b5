"""The keeper: holds this engine's share of the slots: claims, renews, gives back what is too much.

Every beat says that the engine lives, learns who else does, and renews the leases. A lease counts
from before its renewal was asked for, and ends a little early: nobody else can have the slot yet.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

import msgspec
import structlog
from msgspec import Struct

from engine.observe.meter import Meter
from engine.runtime.lease import Lease
from engine.runtime.peers import Peer, Peers
from engine.store.errors import StoreDown
from engine.store.store import Store

log = structlog.get_logger()


class Rhythm(Struct, frozen=True):
    """Seconds: how long a lease lasts, how early it counts as over, how often it is renewed."""

    lease_s: float = 2.0
    early_s: float = 0.25
    beat_s: float = 0.5

    @property
    def lease_ms(self) -> int:
        """How long a lease lasts."""
        return int(self.lease_s * 1000)


class Slots(Protocol):
    """What is done with slots that come and go."""

    async def take(self, slot: int, lease: Lease) -> None:
        """Go on with a slot's calls; raises StoreDown."""

    async def store_again(self, slot: int, lease: Lease) -> None:
        """Store a slot's calls, which the store has lost, from memory."""

    async def settled(self, slot: int) -> None:
        """Wait, not for long, until what was decided is stored."""

    def pause(self, slot: int) -> None:
        """Stand still: the lease has run out, and it is not known yet whose the slot is."""

    def go_on(self, slot: int) -> None:
        """Go on after a pause."""

    def drop(self, slot: int) -> None:
        """Leave a slot's calls to its next owner."""

    def calls(self, slot: int) -> int:
        """Count a slot's live calls."""

    def calls_by_node(self) -> dict[str, int]:
        """Count the live calls of each node."""


class Keeper:
    """Holds slots for one engine; `run` is its one task."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        store: Store,
        peers: Peers,
        url: str,
        *,
        slots: Slots,
        count: int,
        rhythm: Rhythm,
        monotonic: Callable[[], float],
        meter: Meter | None = None,
    ) -> None:
        self.held: dict[int, Lease] = {}
        self._store = store
        self._peers = peers
        self._url = url
        self._slots = slots
        self._count = count
        self._rhythm = rhythm
        self._monotonic = monotonic
        self._changes = (meter or Meter()).store.slots
        self._wake = asyncio.Event()
        self._paused: set[int] = set()

    async def run(self) -> None:
        """Keep the slots until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            while True:
                self._wake.clear()
                await self.beat()
                try:
                    async with asyncio.timeout(self._rhythm.beat_s):
                        await self._wake.wait()
                except TimeoutError:
                    pass

    async def beat(self) -> None:
        """Say that the engine lives, renew, and come nearer to this engine's share."""
        try:
            await self._tell()
            await self._renew()
            await self._give_back()
            await self._claim()
        except StoreDown as error:
            log.warning("the store is away", error=str(error))
        self._pause()

    async def leave(self) -> None:
        """Give all slots back: another engine goes on with their calls. Raises StoreDown."""
        slots = list(self.held)
        await self._store.beat(self._peers.me, "", 0)
        await asyncio.gather(*map(self._given_back, slots))

    def doubt(self, slot: int) -> None:
        """Look at once whose a slot is: something says that it may be another's."""
        if slot in self.held and slot not in self._paused:
            self._paused.add(slot)
            self._changed(slot, "paused")
            self._slots.pause(slot)
            self._wake.set()

    def url_of(self, slot: int | None) -> str | None:
        """Tell where the engine is that has a slot, or, for None, any slot; None: nobody else."""
        return self._peers.url_of(slot)

    @property
    def is_settled(self) -> bool:
        """Whether every slot is this engine's, or that of another that lives."""
        ours = set(self.held)
        return all(slot in ours or self._peers.url_of(slot) for slot in range(self._count))

    async def _listen(self) -> None:
        while True:
            try:
                async for _ in self._store.changes():
                    self._wake.set()
            except StoreDown:
                await asyncio.sleep(self._rhythm.beat_s)

    async def _tell(self) -> None:
        me = Peer(self._url, tuple(sorted(self.held)), self._slots.calls_by_node())
        body = msgspec.json.encode(me).decode()
        self._peers.told(await self._store.beat(self._peers.me, body, 2 * self._rhythm.lease_ms))

    async def _renew(self) -> None:
        await asyncio.gather(*(self._renewed(slot, lease) for slot, lease in self.held.items()))

    async def _renewed(self, slot: int, lease: Lease) -> None:
        ends_s = self._ends_s()
        if await self._store.renew(slot, lease.token, self._rhythm.lease_ms):
            lease.lasts(ends_s)
            if slot in self._paused:
                self._paused.discard(slot)
                self._slots.go_on(slot)
        elif await self._store.owner(slot):
            self._lose(slot)
        else:
            await self._found_again(slot)

    async def _found_again(self, slot: int) -> None:
        """Claim a slot that the store knows nothing of any more; what it lost is in memory here."""
        log.error("the store has lost a slot", slot=slot, calls=self._slots.calls(slot))
        self._changed(slot, "restored")
        lease = await self._claimed(slot)
        if lease is None:
            self._lose(slot)
            return
        self._paused.discard(slot)
        await self._slots.store_again(slot, lease)

    def _lose(self, slot: int) -> None:
        log.warning("slot lost", slot=slot, calls=self._slots.calls(slot))
        self._changed(slot, "lost")
        self._forget(slot)
        self._slots.drop(slot)

    def _forget(self, slot: int) -> None:
        self.held.pop(slot, None)
        self._paused.discard(slot)

    async def _give_back(self) -> None:
        """Give one slot too many back, and the next with the next beat: no engine is flooded."""
        if len(self.held) > self._peers.share(self._count):
            await self._given_back(min(self.held, key=self._slots.calls))

    async def _given_back(self, slot: int) -> None:
        log.info("slot given back", slot=slot, calls=self._slots.calls(slot))
        self._changed(slot, "given_back")
        await self._slots.settled(slot)
        lease = self.held[slot]
        self._forget(slot)
        self._slots.drop(slot)
        await self._store.renew(slot, lease.token, 0)

    async def _claim(self) -> None:
        """Claim free slots, up to this engine's share, those first that would fall to it."""
        lacking = self._peers.share(self._count) - len(self.held)
        if lacking <= 0:
            return
        free = [slot for slot in range(self._count) if slot not in self.held]
        taken: list[tuple[int, Lease]] = []
        for slot in free:
            if len(taken) < lacking and (lease := await self._claimed(slot)):
                taken.append((slot, lease))
        await asyncio.gather(*(self._take(slot, lease) for slot, lease in taken))

    async def _claimed(self, slot: int) -> Lease | None:
        ends_s = self._ends_s()
        token = await self._store.claim(slot, self._peers.me, self._rhythm.lease_ms)
        if token is None:
            return None
        lease = self.held[slot] = Lease(token, ends_s, self._monotonic)
        return lease

    async def _take(self, slot: int, lease: Lease) -> None:
        try:
            await self._slots.take(slot, lease)
        except StoreDown:
            self._lose(slot)
            raise
        self._changed(slot, "taken")

    def _pause(self) -> None:
        """Let those stand still whose lease has run out."""
        for slot in [each for each, lease in self.held.items() if not lease.holds]:
            if slot not in self._paused:
                self._paused.add(slot)
                self._changed(slot, "paused")
                self._slots.pause(slot)

    def _changed(self, slot: int, change: str) -> None:
        self._changes.of(slot)[change] += 1

    def _ends_s(self) -> float:
        return self._monotonic() + self._rhythm.lease_s - self._rhythm.early_s
