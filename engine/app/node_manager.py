"""The nodes of an engine, opened and closed while it runs."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from functools import partial
from ssl import SSLContext
from typing import Any

import structlog
from msgspec import Struct
from yarl import URL

from engine.ami.monitor import AmiMonitor
from engine.app import connections
from engine.app.shard_factory import NodeShardFactory
from engine.config import NodeSettings, Settings
from engine.recordings.archive import Archive
from engine.runtime.admission.node_selection import NodeSelection
from engine.runtime.agents.agent_presence import AgentPresence
from engine.runtime.agents.configured_endpoints import ConfiguredEndpoints
from engine.runtime.agents.phone_credentials import CredentialStore
from engine.runtime.agents.phone_logins import PhoneLogins
from engine.runtime.agents.phone_provisioning import PhoneProvisioning
from engine.runtime.base.context import EngineContext
from engine.runtime.base.tasks import Tasks
from engine.runtime.cluster.pbx_reachability import PbxReachability
from engine.runtime.ownership.shard_lifecycle import ShardLifecycle
from engine.runtime.pbx.trunks import trunk_name
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.pbx_nodes.node_health import NodeHealth
from engine.runtime.pbx_nodes.reaper import Reaper
from engine.runtime.pbx_nodes.recent_digits import RecentDigits
from engine.runtime.policy.capacity_limits import CapacityLimits
from engine.runtime.recording.leftover_recordings import RecordingSweeper

log = structlog.get_logger()
CLOSE_INTERVAL_S = 1.0


class NodeDependencies(Struct, frozen=True):
    """What nodes are opened with; `engine` is this engine's name."""

    settings: Settings
    engine: str
    context: EngineContext
    node_selection: NodeSelection
    agents: AgentPresence
    phone_logins: PhoneLogins
    factory: NodeShardFactory
    lifecycle: ShardLifecycle
    tasks: Tasks
    archive: Archive | None
    reachability: PbxReachability
    tls: SSLContext | None = None  # verifies nodes; None: by the system's certificates


class NodeManager:
    """Opens nodes with all that belongs to them, and closes them again."""

    def __init__(self, parts: NodeDependencies) -> None:
        self._parts = parts
        self._settings = parts.settings
        self._tasks = parts.tasks
        self._node_selection = parts.node_selection
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
        """Close retiring nodes once they have no calls, until cancelled."""
        while True:
            await asyncio.sleep(every_s)
            async with self._lock:
                await self._close_empty()

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
        node = parts.factory.node(settings, ari, recorder)
        self._configure_health(settings, node.recent_digits)
        self._start(name, ari.run())
        parts.reachability.add_node(name)
        self._start(name, ari.health_probe(partial(parts.reachability.record, name)).run())
        endpoint_list = ConfiguredEndpoints(ari, parts.agents.directory.is_trunk)
        parts.agents.configured_endpoints[name] = endpoint_list
        self._start(name, endpoint_list.run())
        credentials = CredentialStore(parts.context.store)
        self._start(name, PhoneProvisioning(name, ari, credentials).run())
        reaper = Reaper(node, self._settings.reap_s, parts.context.metrics)
        self._start(name, reaper.run())
        if recorder is not None:
            period_s = self._settings.recordings_s
            sweeper = RecordingSweeper(name, ari, node.shards, recorder.archive, period_s=period_s)
            self._start(name, sweeper.run())
        parts.lifecycle.add_node(node)

    def _start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.start(f"node {name}", work)

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
        await self._tasks.end(f"node {node.name}")  # they need the connections to it
        self._parts.reachability.remove_node(node.name)
        self._parts.agents.configured_endpoints.pop(node.name, None)
        self._node_selection.retiring.discard(node.name)
        await node.close()
        if stack := self._stacks.pop(node.name, None):
            await stack.aclose()

    def _configure_health(self, settings: NodeSettings, recent_digits: RecentDigits) -> None:
        """Set a node's limits, and follow its health and its phones' digits over AMI."""
        failed_logins = self._parts.context.metrics.nodes.failed_logins
        for service in ("sip", "ami"):
            failed_logins.initialize(settings.name, service)  # an alert needs it from the start
        health = NodeHealth(
            self._parts.context.clock,
            (trunk_name(self._settings.trunk_endpoint), *self._settings.further_trunks),
            self._parts.phone_logins.listener(settings.name),
            failed_logins.table(settings.name),
        )
        limits = CapacityLimits(settings.weight, settings.max_calls, settings.max_calls_per_s)
        host = URL(str(settings.url)).host or ""
        self._node_selection.configure(settings.name, limits, health, host)
        password = settings.ami_password or self._settings.ami_password
        if password is not None:
            login = (settings.ami_user, password.get_secret_value())
            address = (host, settings.ami_port)
            monitor = AmiMonitor(
                settings.name,
                address,
                login,
                health,
                recent_digits,
                tls=self._parts.tls if settings.ami_tls else None,
            )
            self._start(settings.name, monitor.run())
