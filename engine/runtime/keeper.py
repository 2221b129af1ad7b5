"""The keeper: holds this engine's share of the slots: claims, renews, gives back what is too much.

Every beat says that the engine lives, learns who else does, and renews the leases. A lease counts
from before its renewal was asked for, and ends a little early: nobody else can have the slot yet.
An engine that alone can't reach a node has no share, and gives all its slots back at once.
"""

import asyncio
from collections.abc import Callable

import msgspec
import structlog

from engine.observe.meter import Meter
from engine.runtime.holding import Rhythm, Slots
from engine.runtime.lease import Lease
from engine.runtime.peers import Peer, Peers
from engine.runtime.reach import Reach
from engine.store.errors import StoreDown
from engine.store.store import Store

log = structlog.get_logger()
CHANGES = ("taken", "lost", "given_back", "paused", "restored")


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
        reach: Reach | None = None,
        meter: Meter | None = None,
    ) -> None:
        self.held: dict[int, Lease] = {}
        self.is_leaving = False
        self._store = store
        self._peers = peers
        self._url = url
        self._slots = slots
        self._count = count
        self._rhythm = rhythm
        self._monotonic = monotonic
        self._reach = reach or Reach(monotonic)
        self._reach.on_change = self._look
        self._changes = (meter or Meter()).store.slots
        for slot in range(count):
            for change in CHANGES:
                self._changes.begin(slot, change)
        self._wake = asyncio.Event()
        self._paused: set[int] = set()
        self._beating = asyncio.Lock()
        self._gives_from_s = 0.0
        self._claims_from_s = 0.0
        self._claims_lost_from_s = 0.0

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
        async with self._beating:
            try:
                if self.is_leaving:
                    await self._learn()
                    return
                await self._tell()
                await self._renew()
                await self._give_back()
                await self._claim()
            except StoreDown as error:
                log.warning("the store is away", error=str(error))
                # When it is back, whoever lives renews first: nobody's slots are taken for left.
                self._claims_from_s = self._monotonic() + 2 * self._rhythm.beat_s
            for slot, lease in self.held.items():
                self._pause_if_over(slot, lease)

    async def leave(self) -> None:
        """Give all slots back: another engine goes on with their calls. Raises StoreDown."""
        self.is_leaving = True
        async with self._beating:
            await self._store.beat(self._peers.me, "", 0)
            await asyncio.gather(*map(self._given_back, list(self.held)))

    def doubt(self, slot: int) -> None:
        """Look at once whose a slot is: something says that it may be another's."""
        if slot in self.held:
            self._pause(slot)
            self._wake.set()

    def url_of(self, slot: int | None) -> str | None:
        """Tell where the engine is that has a slot, or, for None, any slot; None: nobody else."""
        return self._peers.url_of(slot)

    @property
    def others(self) -> list[str]:
        """Tell where the other engines are."""
        return [peer.url for peer in self._peers.others]

    @property
    def is_settled(self) -> bool:
        """Whether this engine has its share, and others that live have the rest.

        One that died lives on in its last beat: who is started in its place has no share yet.
        """
        has_share = self.is_leaving or len(self.held) >= self._peers.share(self._count)
        slots = (slot for slot in range(self._count) if slot not in self.held)
        return has_share and all(self._peers.url_of(slot) for slot in slots)

    def _look(self) -> None:
        self._wake.set()

    async def _listen(self) -> None:
        while True:
            try:
                async for _ in self._store.changes():
                    self._wake.set()
            except StoreDown:
                await asyncio.sleep(self._rhythm.beat_s)

    async def _tell(self) -> None:
        me = Peer(
            self._url,
            tuple(sorted(self.held)),
            self._slots.calls_by_node(),
            self._reach.hears,
            # Who has no slot yet should hear a node before it gets some.
            self._reach.deaf if self.held else self._reach.unheard,
        )
        body = msgspec.json.encode(me).decode()
        # As long as a lease: with the engine its slots become free, and it counts no more.
        alive = await self._store.beat(self._peers.me, body, self._rhythm.lease_ms)
        if self._peers.told(alive):
            self._wait_for_others()

    async def _learn(self) -> None:
        """Look who has what now: who still asks this engine is handed on."""
        self._peers.told(await self._store.beat(self._peers.me, "", 0))

    async def _renew(self) -> None:
        await asyncio.gather(*(self._renewed(slot, lease) for slot, lease in self.held.items()))

    async def _renewed(self, slot: int, lease: Lease) -> None:
        ends_s = self._ends_s()
        if await self._store.renew(slot, lease.token, self._rhythm.lease_ms):
            self._pause_if_over(slot, lease)  # its desks may have stood still already
            lease.lasts(ends_s)
            self._go_on(slot)
        elif await self._store.owner(slot) in {"", self._peers.me}:
            await self._found_again(slot)
        else:
            self._lose(slot)

    async def _found_again(self, slot: int) -> None:
        """Claim a slot that the store knows nothing of any more; what it lost is in memory here."""
        log.error("the store has lost a slot", slot=slot, calls=self._slots.calls(slot))
        self._changed(slot, "restored")
        self._wait_for_others()
        lease = await self._claimed(slot)
        if lease is None:
            self._lose(slot)
            return
        await self._slots.store_again(slot, lease)

    def _wait_for_others(self) -> None:
        """Leave others the time to store again what the store may have lost of theirs."""
        self._claims_lost_from_s = self._monotonic() + self._rhythm.lease_s

    def _lose(self, slot: int) -> None:
        log.warning("slot lost", slot=slot, calls=self._slots.calls(slot))
        self._changed(slot, "lost")
        self._forget(slot)
        self._slots.drop(slot)

    def _forget(self, slot: int) -> None:
        if lease := self.held.pop(slot, None):
            lease.end()
        self._paused.discard(slot)

    async def _give_back(self) -> None:
        """Give one slot too many back, and the next a beat later: no engine is flooded."""
        if self.held and (missed := self._peers.missed):
            log.warning("other engines reach a node that this one does not", nodes=sorted(missed))
            await asyncio.gather(*map(self._given_back, list(self.held)))
        now_s = self._monotonic()
        if len(self.held) > self._peers.share(self._count) and now_s >= self._gives_from_s:
            self._gives_from_s = now_s + self._rhythm.beat_s
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
        """Claim free slots, up to this engine's share."""
        lacking = self._peers.share(self._count) - len(self.held)
        if lacking <= 0 or self._monotonic() < self._claims_from_s:
            return
        taken: list[tuple[int, Lease]] = []
        try:
            for slot in [each for each in range(self._count) if each not in self.held]:
                if len(taken) < lacking and await self._is_to_be_had(slot):
                    lease = await self._claimed(slot)
                    if lease is not None:
                        taken.append((slot, lease))
        finally:  # what is held is gone on with, also when no more could be claimed
            await asyncio.gather(*(self._take(slot, lease) for slot, lease in taken))

    async def _is_to_be_had(self, slot: int) -> bool:
        """Tell whether nobody is waited for who has a slot that the store may have lost."""
        is_waiting = self._monotonic() < self._claims_lost_from_s
        return not is_waiting or await self._store.owner(slot) != ""

    async def _claimed(self, slot: int) -> Lease | None:
        ends_s = self._ends_s()
        token = await self._store.claim(slot, self._peers.me, self._rhythm.lease_ms)
        if token is None:
            return None
        self._forget(slot)
        lease = self.held[slot] = Lease(token, ends_s, self._monotonic)
        return lease

    async def _take(self, slot: int, lease: Lease) -> None:
        try:
            await self._slots.take(slot, lease)
        except StoreDown:
            self._lose(slot)
            raise
        self._changed(slot, "taken")

    def _pause_if_over(self, slot: int, lease: Lease) -> None:
        if not lease.holds:
            self._pause(slot)

    def _pause(self, slot: int) -> None:
        if slot not in self._paused:
            self._paused.add(slot)
            self._changed(slot, "paused")
            self._slots.pause(slot)

    def _go_on(self, slot: int) -> None:
        if slot in self._paused:
            self._paused.discard(slot)
            self._slots.go_on(slot)

    def _changed(self, slot: int, change: str) -> None:
        self._changes.of(slot)[change] += 1

    def _ends_s(self) -> float:
        return self._monotonic() + self._rhythm.ours_s
