"""One engine process: built, serving, and handing its calls over when it stops."""

import asyncio
import gc
import os
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import structlog
from msgspec.structs import replace

from engine.app import connections, factories
from engine.app.dns_discovery import Discovery
from engine.app.document_folder import DocumentFolder
from engine.app.node_manager import NodeDependencies, NodeManager
from engine.app.shard_factory import NodeShardFactory, ShardDependencies
from engine.app.stream_gateways import StreamDependencies
from engine.config import Settings
from engine.observe.telemetry import open_telemetry
from engine.rpc.access import RpcAccess
from engine.rpc.handlers.cluster.doctor import DoctorRuns
from engine.rpc.handlers.cluster.report import ClusterPlace
from engine.rpc.peers.client import open_peer_client
from engine.rpc.peers.node_knowledge import NodeKnowledge
from engine.rpc.server import ServerDependencies, serving
from engine.runtime.agents.agent_presence import AgentPresence
from engine.runtime.base.clock import Clock, ClockStepCorrection, LoopClock
from engine.runtime.base.context import EngineContext
from engine.runtime.base.tasks import Tasks
from engine.runtime.call_service import AccountCalls
from engine.runtime.cluster.context import ClusterContext
from engine.runtime.cluster.lease import LeaseTimings
from engine.runtime.cluster.lease_manager import LeaseManager
from engine.runtime.cluster.membership import Membership
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.io.consumer_lag import ConsumerLag
from engine.runtime.io.digit_sealer import DigitSealer
from engine.runtime.ownership.ended_calls import EndedCallCompressor
from engine.runtime.ownership.shard_lifecycle import ShardLifecycle
from engine.runtime.pbx.endpoint_templates import trunk_templates
from engine.runtime.policy.operator_stops import DrainedNodes, StoppedAccounts
from engine.store.errors import StoreDown
from engine.store.store import Store
from wire.cluster import DoctorFinding
from wire.media import Speech
from wire.tree import Limits

log = structlog.get_logger()
LEAVE_TIMEOUT_S = 3.0
WARM_UP = Speech("Welcome.")  # synthesized at the start, so that the first caller does not wait


# Checks an installation, by its settings and by the engine's URL, token and CA file.
InstallationCheck = Callable[
    [Settings, tuple[str, str, Path | None]], Awaitable[Sequence[DoctorFinding]]
]


async def no_check(_settings: Settings, _address: object) -> Sequence[DoctorFinding]:
    return ()


class Engine:
    """One engine process; `run` returns when `stop` was called."""

    def __init__(
        self,
        settings: Settings,
        store: Store | None = None,
        check: InstallationCheck = no_check,
    ) -> None:
        """Build the process; raises TlsFileError."""
        self._settings = settings
        self._access = connections.rpc_access(settings)
        self._store = store or factories.store(settings)
        # Containers may share a host's name and be process 1 each; a lease belongs to a name.
        self._name = f"{socket.gethostname()}-{secrets.token_hex(3)}-{os.getpid()}"
        self._stopped = asyncio.Event()
        self._error: BaseException | None = None
        self._check = check
        self._doctor = DoctorRuns(self._check_installation)
        self._limits = Limits(
            allow_insecure=settings.allow_insecure_webhooks, sip_hosts=settings.sip_hosts
        )

    def stop(self) -> None:
        """End this process; its calls continue in another engine."""
        self._stopped.set()

    async def run(self) -> None:
        """Serve until stopped.

        Raises StoreDown when the store can't be reached at the start, and SlotsMismatch.
        """
        settings, store = self._settings, self._store
        async with AsyncExitStack() as stack:
            stack.push_async_callback(store.close)
            shards = ShardMap(settings.slots, [node.name for node in settings.nodes])
            await shards.check(store)
            telemetry = await stack.enter_async_context(open_telemetry(os.environ))
            clock = LoopClock(asyncio.get_running_loop())
            context = EngineContext(store, clock, telemetry.metrics, engine=self._name)
            sealer = DigitSealer(self._access.tokens, os.urandom)
            parts = factories.assembly(settings, stack, context, telemetry, sealer)
            clips = await factories.clip_cache(parts)
            targets = factories.account_settings(settings, store)
            stopped = StoppedAccounts(store.dial_policies)
            members = Membership(self._name)
            directory = factories.directory(parts)
            service = factories.call_service(
                parts, directory, members, shards, default_target=targets.auto_set
            )
            listeners = factories.listener_registry(parts, service)
            io = await factories.io_runner(
                parts, clips, self._limits, targets.webhook_signer, listeners.find_for_request
            )
            transports = await factories.callback_transports(parts, targets, listeners)
            dispatcher = factories.callback_dispatcher(parts, targets, transports, stopped.has)
            agents = AgentPresence(directory, service.calls, service.phone_reports.configured)
            policy = factories.dial_policy(
                parts, stopped.has, service.node_selection, members, shards
            )
            tasks = Tasks(self._fail)
            factory = NodeShardFactory(
                ShardDependencies(settings, clock, service, shards, agents, io, policy, telemetry)
            )
            lifecycle = ShardLifecycle(parts.context, service, factory, tasks, dispatcher)
            leases = self._lease_manager(parts.context, members, lifecycle, shards)
            archive = await connections.archive(settings)
            access = replace(self._access, clock=lambda: _store_time_s(clock))
            peers = await stack.enter_async_context(open_peer_client(leases, access))
            knowledge = NodeKnowledge(members, peers, sealer, lambda: clock.offset_ms)
            nodes = NodeManager(
                NodeDependencies(
                    settings,
                    self._name,
                    parts.context,
                    service.node_selection,
                    agents,
                    service.phone_reports,
                    factory,
                    lifecycle,
                    tasks,
                    archive,
                    leases.reachability,
                    leases.duties,
                    StreamDependencies(
                        settings,
                        self._limits,
                        targets.webhook_signer,
                        policy.recognizers,
                        self._access.client_tls,
                    ),
                    self._access.client_tls,
                    knowledge.digits,
                )
            )
            await self._open_nodes(nodes, stack, service.drained_nodes, tasks)
            account_calls = AccountCalls(service)
            await stopped.poll(account_calls.hang_up)
            tasks.start("stopped accounts", stopped.run(account_calls.hang_up))
            await listeners.poll()
            tasks.start("listeners", listeners.run())
            tasks.start("callbacks", dispatcher.run())
            lag = ConsumerLag(store.stream, service.owned_shards, telemetry.metrics)
            tasks.start("consumer lag", lag.run())
            compressor = EndedCallCompressor(store, lifecycle.tokens, lambda: members.dictionary)
            tasks.start("ended calls", compressor.run())
            dependencies = ServerDependencies(
                service,
                store,
                clips,
                self._limits,
                shards,
                agents,
                leases,
                targets,
                policy,
                factories.callback_tester(targets, transports),
                await factories.webhook_resend(
                    parts, targets, transports, self._limits, listeners.find_for_request
                ),
                telemetry,
                archive=archive,
                cluster=self._cluster_place(clock, members, leases),
                doctor=self._doctor,
                trunks=tuple(trunk_templates(settings.trunk_endpoint, settings.further_trunks)),
            )
            monitor = ClockStepCorrection(clock, store, telemetry.metrics, service.change_clock)
            await monitor.poll()
            tasks.start("clock", monitor.run())
            clips.prefetch("", (WARM_UP,), "")
            tasks.start("phone reports", knowledge.run(service.phone_reports))
            await self._serve(dependencies, access, leases, tasks)

    def _lease_manager(
        self,
        context: EngineContext,
        members: Membership,
        lifecycle: ShardLifecycle,
        shards: ShardMap,
    ) -> LeaseManager:
        settings, lease_s = self._settings, self._settings.lease_s
        cluster = ClusterContext(
            context.store,
            members,
            lifecycle,
            shards,
            LeaseTimings(lease_s, margin_s=lease_s / 8, heartbeat_s=lease_s / 4),
            time.monotonic,
            context.metrics,
            settings.max_calls,
        )
        return LeaseManager(cluster, self._access.url)

    def _cluster_place(
        self, clock: Clock, members: Membership, leases: LeaseManager
    ) -> ClusterPlace:
        return ClusterPlace(
            self._name,
            self._access.url,
            clock.now_ms(),
            self._settings.max_calls,
            lambda: members.others,
            lambda node: leases.duties.of(node).supervises,
        )

    async def _check_installation(self) -> Sequence[DoctorFinding]:
        """Run the checks of `switchroom doctor` with the settings of this engine."""
        address = self._access.url, self._access.token, self._settings.tls_ca
        return await self._check(self._settings, address)

    async def _open_nodes(
        self, nodes: NodeManager, stack: AsyncExitStack, drained: DrainedNodes, tasks: Tasks
    ) -> None:
        stack.push_async_callback(nodes.close)
        stack.push_async_callback(tasks.close)  # first: tasks need the connections to the nodes
        await drained.refresh()
        tasks.start("drained nodes", drained.run())
        await nodes.open_named()
        tasks.start("nodes", nodes.run())
        if self._settings.node_dns:
            discovery = Discovery(self._settings, nodes.sync_discovered)
            await discovery.poll()
            tasks.start("discovery", discovery.run())

    async def _serve(
        self,
        dependencies: ServerDependencies,
        access: RpcAccess,
        leases: LeaseManager,
        tasks: Tasks,
    ) -> None:
        settings = self._settings
        async with serving(dependencies, access, settings.rpc_host, settings.rpc_port):
            tasks.start("leases", leases.run())
            if settings.documents:
                folder = DocumentFolder.open(settings.documents, dependencies)
                tasks.start("documents", folder.run())
            _configure_garbage_collector()
            log.info("engine up", engine=self._name)
            await self._stopped.wait()
            await self._doctor.close()
            await self._leave(leases)
        if self._error is not None:
            raise self._error

    async def _leave(self, leases: LeaseManager) -> None:
        """Release the shards; what the store can't take now is left to recovery."""
        try:
            async with asyncio.timeout(LEAVE_TIMEOUT_S):
                await leases.leave()
        except (TimeoutError, StoreDown) as error:
            log.warning("shutdown: shards not released", error=str(error))

    def _fail(self, error: BaseException) -> None:
        self._error = error
        self.stop()


def _store_time_s(clock: Clock) -> float:
    """Return the store's time: the clocks of two engines may differ by hours."""
    return (clock.now_ms() - clock.offset_ms) / 1000


def _configure_garbage_collector() -> None:
    """Collect cycles rarely: calls are trees, and a pass over 10,000 of them takes milliseconds."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
