"""The keeper: sees that this engine holds its share of the slots, no more and no less.

Every beat says that the engine lives, learns who else does, renews the leases (`leases.py`), gives
back what is too much and claims what is free (`share.py`). An engine that alone can't reach a node
has no share, and gives all its slots back at once.
"""

import asyncio
from collections.abc import Callable

import msgspec
import structlog

from engine.observe.metrics import Meter
from engine.runtime.cluster.lease import Lease
from engine.runtime.cluster.membership import Peer, Peers
from engine.runtime.cluster.reachability import Reach
from engine.runtime.cluster.rebalancer import Share
from engine.runtime.cluster.slot_leases import Leases
from engine.runtime.cluster.timings import Rhythm, Slots
from engine.store.errors import StoreDown
from engine.store.store import Store

log = structlog.get_logger()


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
        self.is_leaving = False
        self._store = store
        self._peers = peers
        self._url = url
        self._slots = slots
        self._count = count
        self._rhythm = rhythm
        self._leases = Leases(
            store,
            peers.me,
            slots=slots,
            rhythm=rhythm,
            monotonic=monotonic,
            meter=meter or Meter(),
        )
        self._leases.count_from_zero(count)
        self._share = Share(
            store,
            peers,
            self._leases,
            slots=slots,
            count=count,
            rhythm=rhythm,
            monotonic=monotonic,
        )
        self._leases.on_forgotten = self._share.wait_for_others
        self._wake = asyncio.Event()
        self._reach = reach or Reach(monotonic)
        self._reach.on_change = self.look
        self._beating = asyncio.Lock()

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
                self._share.look_at_connection()
                await self._leases.renew()
                await self._share.give_back()
                if await self._share.claim():
                    self.look()  # others hear by the next beat what is whose
            except StoreDown as error:
                log.warning("the store is away", error=str(error))
            self._leases.pause_if_over()

    async def leave(self) -> None:
        """Give all slots back: another engine goes on with their calls. Raises StoreDown."""
        self.is_leaving = True
        async with self._beating:
            await self._store.beat(self._peers.me, "", 0)
            await self._leases.give_back(*self.held)

    def doubt(self, slot: int) -> None:
        """Look at once whose a slot is: something says that it may be another's."""
        if slot in self.held:
            self._leases.pause(slot)
            self._wake.set()

    @property
    def held(self) -> dict[int, Lease]:
        """The slots held, with their leases."""
        return self._leases.held

    def look(self) -> None:
        """Look at once who has what: somebody waits for it."""
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
        has_share = self.is_leaving or self._share.is_fair
        slots = (slot for slot in range(self._count) if slot not in self.held)
        return has_share and all(self._peers.url_of(slot) for slot in slots)

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
            self._share.wait_for_others()

    async def _learn(self) -> None:
        """Look who has what now: who still asks this engine is handed on."""
        self._peers.told(await self._store.beat(self._peers.me, "", 0))
