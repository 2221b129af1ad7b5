"""The nodes of an engine, which come and go while it runs."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial

import structlog
from msgspec import Struct
from yarl import URL

from engine.ami.monitor import AmiMonitor
from engine.app import connections
from engine.app.shard_factory import NodeShardFactory
from engine.config import NodeSettings, Settings
from engine.observe.telemetry import Telemetry
from engine.recordings.archive import Archive
from engine.runtime.admission.limits import CapacityLimits
from engine.runtime.agents.endpoints import EndpointList
from engine.runtime.agents.status import AgentStatus
from engine.runtime.base.clock import Clock
from engine.runtime.base.tasks import Tasks
from engine.runtime.cluster.reachability import Reachability
from engine.runtime.nodes.dtmf_log import DtmfLog
from engine.runtime.nodes.node import Node
from engine.runtime.nodes.reaper import Reaper
from engine.runtime.ownership.slot_owner import SlotOwner
from engine.runtime.recording.sweeper import RecordingSweeper

log = structlog.get_logger()
CLOSE_INTERVAL_S = 1.0


class NodeDependencies(Struct, frozen=True):
    """What nodes are opened with."""

    settings: Settings
    engine: str
    clock: Clock
    agents: AgentStatus
    shards: NodeShardFactory
    slots: SlotOwner
    tasks: Tasks
    archive: Archive | None
    telemetry: Telemetry
    reachability: Reachability


class NodeManager:
    """Opens nodes with all that belongs to them, and closes them again."""

    def __init__(self, around: NodeDependencies) -> None:
        self._around = around
        self._placement = around.agents.switch.placement
        around.slots.on_unknown_node = self.add_placeholder
        self._houses: dict[str, AsyncExitStack] = {}
        self._lasting: set[str] = set()  # those that are configured by name
        self._turn = asyncio.Lock()  # one that is found again while it closes is opened after that

    async def open_named(self) -> None:
        """Open the nodes that the settings name."""
        for named in self._around.settings.nodes:
            self._lasting.add(named.name)
            await self._open(named)

    async def sync_discovered(self, nodes: Mapping[str, NodeSettings]) -> None:
        """Take what a look into the DNS found: new ones are opened, those gone get no new call."""
        async with self._turn:
            for name, named in nodes.items():
                if name not in self._houses:
                    log.info("node found", node=name, url=str(named.url))
                    await self._open(named)
            gone = self._houses.keys() - nodes.keys() - self._lasting
            for name in sorted(gone - self._placement.retiring):
                log.warning("node is in the DNS no more", node=name)
            self._placement.retiring = gone

    def add_placeholder(self, name: str) -> None:
        """Hold the calls of a node that is not configured any more: they end after the grace."""
        log.error("calls of a node that is not configured", node=name)
        self._around.slots.add_node(self._around.shards.placeholder(name))

    async def run(self, every_s: float = CLOSE_INTERVAL_S) -> None:
        """Close those that are to go once they are empty, until cancelled."""
        while True:
            await asyncio.sleep(every_s)
            async with self._turn:
                await self._close_empty()

    async def close(self) -> None:
        """Leave all nodes as they are, for the next owner."""
        for node in self._placement.nodes.values():
            await node.close()
        for house in reversed(self._houses.values()):
            await house.aclose()

    async def _open(self, named: NodeSettings) -> None:
        around, house = self._around, AsyncExitStack()
        self._houses[named.name] = house
        ari = await house.enter_async_context(connections.ari(named, around.engine))
        tapes = await connections.recorder(around.settings, house, named, ari, around.archive)
        node = around.shards.node(named, ari, tapes)
        node.party_of = around.agents.party_of
        self._configure_health(named, node.dtmf_log)
        work = f"node {named.name}"
        around.tasks.start(work, ari.run())
        around.reachability.add_node(named.name)
        around.tasks.start(
            work, ari.health_probe(partial(around.reachability.record, named.name)).run()
        )
        phones = EndpointList(ari, around.agents.directory.is_trunk)
        around.agents.endpoint_lists[named.name] = phones
        around.tasks.start(work, phones.run())
        reaper = Reaper(node, around.settings.reap_s, around.telemetry.metrics)
        around.tasks.start(work, reaper.run())
        if tapes is not None:
            archivist = RecordingSweeper(node, tapes, around.settings.recordings_s)
            around.tasks.start(work, archivist.run())
        around.slots.add_node(node)

    async def _close_empty(self) -> None:
        for node in list(self._placement.nodes.values()):
            is_to_go = node.name in self._placement.retiring or node.name not in self._houses
            if is_to_go and node.live_calls == 0:
                await self._close(node)

    async def _close(self, node: Node) -> None:
        log.info("node closed", node=node.name)
        self._around.slots.remove_node(node)
        await self._around.tasks.end(f"node {node.name}")  # what runs needs the way to it
        self._around.reachability.remove_node(node.name)
        self._around.agents.endpoint_lists.pop(node.name, None)
        self._placement.retiring.discard(node.name)
        await node.close()
        if house := self._houses.pop(node.name, None):
            await house.aclose()

    def _configure_health(self, named: NodeSettings, keys: DtmfLog) -> None:
        """Say what a node may be given, and listen to how it is and what its phones send."""
        health = connections.health(self._around.settings, self._around.clock)
        terms = CapacityLimits(named.weight, named.max_calls, named.max_calls_per_s)
        self._placement.configure(named.name, terms, health)
        password = named.ami_password or self._around.settings.ami_password
        if password is not None:
            host = URL(str(named.url)).host or ""
            login = (named.ami_user, password.get_secret_value())
            watch = AmiMonitor(named.name, (host, named.ami_port), login, health, keys)
            self._around.tasks.start(f"node {named.name}", watch.run())
