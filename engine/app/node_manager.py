"""The nodes of an engine, opened and closed while it runs.

It knows all nodes, and is connected to those for which it has a duty (`node_duties.py`).
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from ssl import SSLContext

import structlog
from msgspec import Struct
from yarl import URL

from base.tasks import wait_for_event
from engine.ami.events import DtmfListener, HealthListener, PhoneListener
from engine.ami.monitor import AmiMonitor
from engine.app import connections
from engine.app.shard_factory import NodeShardFactory
from engine.app.stream_gateways import NodeGateways, StreamDependencies, open_gateways
from engine.ari.client import AriClient
from engine.config import Settings
from engine.recordings import Archive
from engine.runtime.admission.node_selection import NodeSelection
from engine.runtime.agents.agent_presence import AgentPresence
from engine.runtime.agents.configured_endpoints import ConfiguredEndpoints
from engine.runtime.agents.phone_addresses import PhoneAddresses
from engine.runtime.agents.phone_credentials import CredentialStore
from engine.runtime.agents.phone_logins import PhoneReports
from engine.runtime.agents.phone_provisioning import PhoneProvisioning
from engine.runtime.base.context import EngineContext
from engine.runtime.base.tasks import Tasks
from engine.runtime.cluster.node_duties import NodeDuties, NodeUpkeep, Work
from engine.runtime.cluster.pbx_reachability import PbxReachability
from engine.runtime.ownership.shard_lifecycle import ShardLifecycle
from engine.runtime.pbx.endpoint_templates import trunk_name
from engine.runtime.pbx_nodes.node import Node, PeerDigits, no_peer_digits
from engine.runtime.pbx_nodes.node_health import NodeHealth
from engine.runtime.pbx_nodes.reaper import Reaper
from engine.runtime.policy.capacity_limits import CapacityLimits
from engine.runtime.recording.leftover_recordings import RecordingSweeper
from engine.runtime.recording.recorder import Recorder
from engine.runtime.shard.shard import CallShard
from engine.settings.nodes import NodeSettings

log = structlog.get_logger()
CLOSE_INTERVAL_S = 1.0


class NodeDependencies(Struct, frozen=True):
    """What nodes are opened with; `engine` is this engine's name."""

    settings: Settings
    engine: str
    context: EngineContext
    node_selection: NodeSelection
    agents: AgentPresence
    phones: PhoneReports
    factory: NodeShardFactory
    lifecycle: ShardLifecycle
    tasks: Tasks
    archive: Archive | None
    reachability: PbxReachability
    duties: NodeDuties
    streams: StreamDependencies
    tls: SSLContext | None = None  # verifies nodes; None: by the system's certificates
    peer_digits: PeerDigits = no_peer_digits


class NodeManager:
    """Opens nodes with all that belongs to them, and closes them again."""

    def __init__(self, parts: NodeDependencies) -> None:
        self._parts = parts
        self._settings = parts.settings
        self._tasks = parts.tasks
        self._node_selection = parts.node_selection
        self._upkeep: dict[str, NodeUpkeep] = {}
        self._stacks: dict[str, AsyncExitStack] = {}
        self._configured: set[str] = set()  # by name, in the settings
        self._lock = asyncio.Lock()  # a node discovered again while it closes is opened after that

    async def open_named(self) -> None:
        for settings in self._settings.nodes:
            self._configured.add(settings.name)
            await self._open(settings)

    async def sync_discovered(self, nodes: Mapping[str, NodeSettings]) -> None:
        """Open newly discovered nodes; removed ones get no new calls."""
        async with self._lock:
            for name, settings in nodes.items():
                if name not in self._stacks:
                    log.info("node discovered", node=name, url=str(settings.url))
                    await self._open(settings)
            retiring = self._stacks.keys() - nodes.keys() - self._configured
            for name in sorted(retiring - self._node_selection.retiring):
                log.warning("node not in the DNS any more", node=name)
            self._node_selection.retiring = retiring

    async def run(self, every_s: float = CLOSE_INTERVAL_S) -> None:
        """Follow the duties, and close retiring nodes once they have no calls, until cancelled."""
        duties = self._parts.duties
        while True:
            await wait_for_event(duties.changed, every_s)
            async with self._lock:
                if duties.changed.is_set():
                    self._apply_duties()
                await self._close_empty()

    def _apply_duties(self) -> None:
        duties = self._parts.duties
        duties.changed.clear()
        for name, upkeep in self._upkeep.items():
            upkeep.apply(duties.of(name))

    async def close(self) -> None:
        """Close all nodes; their calls are left to the next owner."""
        for node in self._node_selection.nodes.values():
            await node.close()
        for stack in reversed(self._stacks.values()):
            await stack.aclose()

    async def _open(self, settings: NodeSettings) -> None:
        parts, stack, name = self._parts, AsyncExitStack(), settings.name
        self._stacks[name] = stack
        ari = await stack.enter_async_context(connections.ari(settings, parts.engine, parts.tls))
        recorder = await connections.recorder(
            self._settings, stack, settings, ari, parts.archive, parts.tls
        )
        shards: dict[int, CallShard] = {}
        gateways = await open_gateways(parts.streams, stack, settings, ari, shards)
        node = parts.factory.node(
            settings,
            ari,
            recorder,
            parts.peer_digits,
            shards=shards,
            streams=gateways.streams if gateways else None,
        )
        health = self._configure_health(settings)
        is_trunk, now_ms = parts.agents.directory.is_trunk, parts.context.clock.now_ms
        addresses = PhoneAddresses(name, ari, is_trunk, now_ms)
        endpoint_list = ConfiguredEndpoints(ari, is_trunk, on_change=parts.phones.on_change)
        parts.agents.configured_endpoints[name] = endpoint_list
        parts.reachability.add_node(name)
        work: dict[str, list[Work]] = {
            "owner": self._owner_work(node, ari, recorder, gateways),
            "stranger": [
                ari.health_probe(partial(parts.reachability.record, name), is_rare=True).run
            ],
            "supervisor": [
                endpoint_list.run,
                PhoneProvisioning(name, ari, CredentialStore(parts.context.store), now_ms).run,
                addresses.run,
                partial(parts.factory.tell_slots, name, ari),
                partial(parts.factory.watch_presence, name, ari),
                *self._monitors(settings, health=health, phones=addresses),
            ],
            "listener": self._monitors(settings, dtmf=node.recent_digits),
        }
        self._upkeep[name] = NodeUpkeep(name, self._tasks, work)
        self._upkeep[name].apply(parts.duties.of(name))
        parts.lifecycle.add_node(node)

    def _owner_work(
        self,
        node: Node,
        ari: AriClient,
        recorder: Recorder | None,
        gateways: NodeGateways | None,
    ) -> list[Work]:
        """Return the work of an engine with shards of a node, each for its own calls."""
        parts = self._parts
        probe = ari.health_probe(partial(parts.reachability.record, node.name))
        reaper = Reaper(node, self._settings.reap_s, parts.context.metrics)
        work: list[Work] = [ari.run, probe.run, reaper.run]
        if gateways is not None:
            work += gateways.work
        if recorder is not None:
            period_s = self._settings.recordings_s
            archive = recorder.archive
            sweeper = RecordingSweeper(node.name, ari, node.shards, archive, period_s=period_s)
            work.append(sweeper.run)
        return work

    async def _close_empty(self) -> None:
        for node in list(self._node_selection.nodes.values()):
            is_retiring = (
                node.name in self._node_selection.retiring or node.name not in self._stacks
            )
            if is_retiring and node.live_calls == 0:
                await self._close(node)

    async def _close(self, node: Node) -> None:
        log.info("node closed", node=node.name)
        self._parts.lifecycle.remove_node(node)
        if upkeep := self._upkeep.pop(node.name, None):
            await upkeep.close()  # it needs the connections to the node
        self._parts.reachability.remove_node(node.name)
        self._parts.agents.configured_endpoints.pop(node.name, None)
        self._node_selection.retiring.discard(node.name)
        await node.close()
        if stack := self._stacks.pop(node.name, None):
            await stack.aclose()

    def _configure_health(self, settings: NodeSettings) -> NodeHealth:
        """Set a node's limits, and build what knows its health."""
        failed_logins = self._parts.context.metrics.nodes.failed_logins
        for service in ("sip", "ami"):
            failed_logins.initialize(settings.name, service)  # an alert needs it from the start
        health = NodeHealth(
            self._parts.context.clock,
            (trunk_name(self._settings.trunk_endpoint), *self._settings.further_trunks),
            self._parts.phones.logins.listener(settings.name),
            failed_logins.table(settings.name),
            self._parts.context.metrics.rtp.recorder(settings.name),
        )
        limits = CapacityLimits(settings.weight, settings.max_calls, settings.max_calls_per_s)
        host = URL(str(settings.url)).host or ""
        self._node_selection.configure(settings.name, limits, health, host)
        return health

    def _monitors(
        self,
        settings: NodeSettings,
        health: HealthListener | None = None,
        dtmf: DtmfListener | None = None,
        phones: PhoneListener | None = None,
    ) -> list[Work]:
        """Return what listens to a node's manager interface; nothing without a password for it."""
        password = settings.ami_password or self._settings.ami_password
        if password is None:
            return []
        monitor = AmiMonitor(
            settings.name,
            (URL(str(settings.url)).host or "", settings.ami_port),
            (settings.ami_user, password.get_secret_value()),
            health,
            dtmf,
            phones,
            tls=self._parts.tls if settings.ami_tls else None,
        )
        return [monitor.run]
