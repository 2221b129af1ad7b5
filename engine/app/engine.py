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
from engine.app.node_manager import NodeDependencies, NodeManager
from engine.app.shard_factory import NodeShardFactory
from engine.config import Settings
from engine.observe.metrics import Metrics
from engine.observe.telemetry import open_telemetry
from engine.rpc.server import ServerDependencies, serving
from engine.runtime.agents.status import AgentStatus
from engine.runtime.base.clock import LoopClock
from engine.runtime.base.tasks import Tasks
from engine.runtime.cluster.lease_manager import LeaseManager
from engine.runtime.cluster.membership import Membership
from engine.runtime.cluster.reachability import Reachability
from engine.runtime.cluster.timings import LeaseTimings
from engine.runtime.io.consumer_lag import ConsumerLag
from engine.runtime.ownership.slot_owner import SlotOwner
from engine.store.errors import StoreDown
from engine.store.store import Store
from wire.media import Speech
from wire.tree import Limits

log = structlog.get_logger()
LEAVE_TIMEOUT_S = 3.0
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
            seen = await house.enter_async_context(open_telemetry(os.environ))
            clock = LoopClock(asyncio.get_running_loop())
            library = await factories.library(settings, house, seen)
            errands = await factories.io_runner(settings, house, library, store, self._limits, seen)
            peers = Membership(self._name)
            accounts = factories.callback_targets(settings, store)
            courier = await factories.callback_dispatcher(
                settings, house, store, accounts, clock, seen
            )
            told = accounts.auto_set
            roster = factories.roster(settings, house, store, clock, peers, seen, told)
            tasks = Tasks(self._failed)
            terms = factories.dial_policy(settings, house, store, clock)
            desks = NodeShardFactory(settings, clock, errands, roster, seen, terms)
            slots = SlotOwner(
                store, roster.switch, desks, tasks, random.random, meter=seen.metrics, post=courier
            )
            reach = Reachability(time.monotonic)
            keeper = self._keeper(store, peers, slots, reach, seen.metrics)
            archive = await connections.archive(settings)
            around = NodeDependencies(
                settings, self._name, clock, roster, desks, slots, tasks, archive, seen, reach
            )
            await self._open_nodes(NodeManager(around), house, roster, tasks)
            tasks.start("courier", courier.run())
            readers = ConsumerLag(store.stream, roster.switch.owned_slots, seen.metrics)
            tasks.start("readers", readers.run())
            parts = ServerDependencies(
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
        self, store: Store, peers: Membership, slots: SlotOwner, reach: Reachability, meter: Metrics
    ) -> LeaseManager:
        settings = self._settings
        keeper = LeaseManager(
            store,
            peers,
            connections.rpc_url(settings),
            slots=slots,
            count=settings.slots,
            rhythm=LeaseTimings(settings.lease_s, settings.lease_s / 8, settings.lease_s / 4),
            monotonic=time.monotonic,
            reach=reach,
            meter=meter,
        )
        slots.on_lease_suspect = keeper.suspect
        return keeper

    async def _open_nodes(
        self, fleet: NodeManager, house: AsyncExitStack, roster: AgentStatus, tasks: Tasks
    ) -> None:
        house.push_async_callback(fleet.close)
        house.push_async_callback(tasks.close)  # before it: what runs needs the ways to the nodes
        await roster.switch.drained_nodes.refresh()
        tasks.start("drains", roster.switch.drained_nodes.run())
        await fleet.open_named()
        tasks.start("fleet", fleet.run())
        if self._settings.node_dns:
            discovery = Discovery(self._settings, fleet.sync_discovered)
            await discovery.poll()
            tasks.start("discovery", discovery.run())

    async def _serve(self, parts: ServerDependencies, keeper: LeaseManager, tasks: Tasks) -> None:
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

    async def _leave(self, keeper: LeaseManager) -> None:
        """Hand the slots over; what the store can't take now, recovery finds out."""
        try:
            async with asyncio.timeout(LEAVE_TIMEOUT_S):
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
