"""One engine process: put together, serving, and leaving its calls to the next."""

import asyncio
import gc
import os
import random
import secrets
import socket
import time
from contextlib import AsyncExitStack

import structlog

from engine.app import connections, factories
from engine.app.dns_discovery import Discovery
from engine.app.node_manager import Around, Fleet
from engine.app.shard_factory import Desks
from engine.config import Settings
from engine.observe.metrics import Meter
from engine.observe.telemetry import instruments
from engine.rpc.server import Parts, serving
from engine.runtime.agents.status import Roster
from engine.runtime.base.clock import LoopClock
from engine.runtime.base.tasks import Tasks
from engine.runtime.cluster.lease_manager import Keeper
from engine.runtime.cluster.membership import Peers
from engine.runtime.cluster.reachability import Reach
from engine.runtime.cluster.timings import Rhythm
from engine.runtime.io.consumer_lag import ConsumerLag
from engine.runtime.ownership.slot_owner import OwnSlots
from engine.store.errors import StoreDown
from engine.store.store import Store
from wire.media import Speech
from wire.tree import Limits

log = structlog.get_logger()
LEAVE_S = 3.0
WARM_UP = Speech("Welcome.")  # the first caller to be spoken to need not wait for the voice


class Engine:
    """One engine process; `run` returns when `stop` was called."""

    def __init__(self, settings: Settings, store: Store | None = None) -> None:
        self._settings = settings
        self._store = store or factories.store(settings)
        # Containers may share a host's name and be process 1 each; a lease is a name's.
        self._name = f"{socket.gethostname()}-{secrets.token_hex(3)}-{os.getpid()}"
        self._stopped = asyncio.Event()
        self._fault: BaseException | None = None
        self._limits = Limits(
            allow_insecure=settings.allow_insecure_webhooks, sip_hosts=settings.sip_hosts
        )

    def stop(self) -> None:
        """End this process' work; its calls live on in another engine."""
        self._stopped.set()

    async def run(self) -> None:
        """Serve until stopped; raises StoreDown when the store can't be reached at the start."""
        settings = self._settings
        async with AsyncExitStack() as house:
            store = self._store
            house.push_async_callback(store.close)
            await store.ping()
            seen = await house.enter_async_context(instruments(os.environ))
            clock = LoopClock(asyncio.get_running_loop())
            library = await factories.library(settings, house, seen)
            errands = await factories.errands(settings, house, library, store, self._limits, seen)
            peers = Peers(self._name)
            accounts = factories.accounts(settings, store)
            courier = await factories.courier(settings, house, store, accounts, clock, seen)
            told = accounts.auto_set
            roster = factories.roster(settings, house, store, clock, peers, seen, told)
            tasks = Tasks(self._failed)
            terms = factories.terms(settings, house, store, clock)
            desks = Desks(settings, clock, errands, roster, seen, terms)
            slots = OwnSlots(
                store, roster.switch, desks, tasks, random.random, meter=seen.meter, post=courier
            )
            reach = Reach(time.monotonic)
            keeper = self._keeper(store, peers, slots, reach, seen.meter)
            archive = await connections.archive(settings)
            around = Around(
                settings, self._name, clock, roster, desks, slots, tasks, archive, seen, reach
            )
            await self._open_nodes(Fleet(around), house, roster, tasks)
            tasks.start("courier", courier.run())
            readers = ConsumerLag(store.stream, roster.switch.slots, seen.meter)
            tasks.start("readers", readers.run())
            parts = Parts(
                roster.switch,
                store,
                library,
                self._limits,
                settings.slots,
                roster,
                keeper,
                accounts,
                terms,
                seen,
            )
            library.prefetch((WARM_UP,))
            await self._serve(parts, keeper, tasks)

    def _keeper(
        self, store: Store, peers: Peers, slots: OwnSlots, reach: Reach, meter: Meter
    ) -> Keeper:
        settings = self._settings
        keeper = Keeper(
            store,
            peers,
            connections.rpc_url(settings),
            slots=slots,
            count=settings.slots,
            rhythm=Rhythm(settings.lease_s, settings.lease_s / 8, settings.lease_s / 4),
            monotonic=time.monotonic,
            reach=reach,
            meter=meter,
        )
        slots.on_doubt = keeper.doubt
        return keeper

    async def _open_nodes(
        self, fleet: Fleet, house: AsyncExitStack, roster: Roster, tasks: Tasks
    ) -> None:
        house.push_async_callback(fleet.close)
        house.push_async_callback(tasks.close)  # before it: what runs needs the ways to the nodes
        await roster.switch.drains.look()
        tasks.start("drains", roster.switch.drains.run())
        await fleet.open_named()
        tasks.start("fleet", fleet.run())
        if self._settings.node_dns:
            discovery = Discovery(self._settings, fleet.found)
            await discovery.look()
            tasks.start("discovery", discovery.run())

    async def _serve(self, parts: Parts, keeper: Keeper, tasks: Tasks) -> None:
        settings = self._settings
        token = settings.rpc_token.get_secret_value()
        async with serving(parts, token, settings.rpc_host, settings.rpc_port):
            tasks.start("keeper", keeper.run())
            _quiet_garbage_collector()
            log.info("engine up", engine=self._name)
            await self._stopped.wait()
            await self._leave(keeper)
        if self._fault is not None:
            raise self._fault

    async def _leave(self, keeper: Keeper) -> None:
        """Hand the slots over; what the store can't take now, recovery finds out."""
        try:
            async with asyncio.timeout(LEAVE_S):
                await keeper.leave()
        except (TimeoutError, StoreDown) as error:
            log.warning("left without giving the slots back", error=str(error))

    def _failed(self, error: BaseException) -> None:
        self._fault = error
        self.stop()


def _quiet_garbage_collector() -> None:
    """Look for cycles seldom: calls are trees, and a look at 10,000 of them takes milliseconds."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
