"""The scenario of a fault: two PBX nodes, one Valkey, several engines and many live calls."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.monotonic import now_ms
from tests.harness.servers.cluster import Cluster
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.until import until
from tools.chaos.arrivals import Arrivals
from tools.chaos.control import ControlledCall, ControlLoad
from tools.chaos.event_log import EventLog
from tools.chaos.latency import hangup_ms
from tools.chaos.owners import OwnerWatch
from tools.chaos.phones import PER_S, callees, callers
from wire.shard import ShardId

LONG_MS = 180_000
View = dict[str, Any]


class Setting(Struct, frozen=True):
    """Number of live calls, rate and duration of new calls, and size of the cluster."""

    folder: Path
    calls: int
    per_s: int = 20
    arriving_s: float = 20
    slots: int = 4  # per node
    engines: int = 2


class Proxies(Struct, frozen=True):
    """The proxies between the first engine and its store and PBX."""

    store: TcpProxy
    pbx: TcpProxy


class Scenario:
    """Servers, calls and measurements of a fault; the first engine is the faulty one."""

    def __init__(self, cluster: Cluster, setting: Setting, proxies: Proxies | None) -> None:
        self.cluster = cluster
        self.setting = setting
        self.dead_pids: set[int] = set()  # dead engines, which may still hold leases
        self.views: Mapping[str, View] = {}
        self.expected_to_end: set[str] = set()  # calls that the fault ends
        self.arrivals = Arrivals(setting.per_s, setting.arriving_s, setting.folder)
        self.event_log = EventLog(cluster.valkey.url, cluster.shards)
        self.owners = OwnerWatch(cluster.valkey.url, cluster.shards, self.dead_pids)
        self.planned_hangups: set[str] = set()  # calls hung up to measure the time
        self.timed_hangup: asyncio.Task[float] | None = None
        self.faulty_shards: list[ShardId] = []
        self.since_ms = 0.0
        self._proxies = proxies
        self._control_load: ControlLoad | None = None

    @property
    def faulty(self) -> Lab:
        """The lab, seen through the faulty engine."""
        return self.cluster.labs[0]

    @property
    def healthy(self) -> Lab:
        """The lab, seen through the second engine, or the first if that does not run."""
        labs = self.cluster.labs[1:] + self.cluster.labs[:1]
        return next((lab for lab in labs if lab.engine.running()), labs[0])

    @property
    def proxies(self) -> Proxies:
        """The proxies; raises RuntimeError if the scenario has none."""
        if self._proxies is None:
            raise RuntimeError("this scenario has no proxies")
        return self._proxies

    @property
    def control_load(self) -> ControlLoad:
        """The control load; raises RuntimeError before calls are chosen."""
        if self._control_load is None:
            raise RuntimeError("no calls are controlled yet")
        return self._control_load

    def start_measuring(self) -> None:
        """Measure from now on: at the start of a fault, or when a server has recovered."""
        self.since_ms = now_ms()
        view = self._choose_call_to_hang_up()
        self.planned_hangups.add(view["callId"])
        node = next(each for each in self.cluster.nodes if each.name == view["node"])
        lab = Lab(self.cluster.valkey, node, self.healthy.engine, self.cluster.trunk_port)
        self.timed_hangup = asyncio.create_task(hangup_ms(lambda: self.healthy, lab, view))

    def _choose_call_to_hang_up(self) -> View:
        """Choose a call of the faulty engine, on the first node unless that is killed."""
        spared = self.expected_to_end | self.control_load.calls
        free = [view for call, view in self.views.items() if call not in spared]
        return min(free, key=lambda view: (_shard(view) not in self.faulty_shards, view["node"]))

    async def wait_for_control(self, timeout_s: float = 30) -> None:
        """Wait until every controlled call executes a request that is sent from now on."""
        await self.control_load.wait_for_control(now_ms(), timeout_s)

    def exclude_node(self, node: str) -> None:
        """Send no more control requests for calls on a node."""
        self.control_load.exclude(
            {each for each, view in self.views.items() if view["node"] == node}
        )

    async def wait_for_calls(self, timeout_s: float = 20) -> Mapping[str, View]:
        """Wait for the configured number of live calls and return their views."""

        async def all_there() -> bool:
            shown = (await self.healthy.engine.rpc("GET", "/calls"))["calls"]
            self.views = {each["callId"]: each for each in shown if _is_set_up(each)}
            return len(self.views) == self.setting.calls

        await until(all_there, timeout_s=timeout_s, every_s=0.2, what="all calls to be live")
        return self.views

    def choose_controlled_calls(self) -> None:
        """Choose the controlled calls: one gathering call per shard."""
        waiting = [each for each in self.views.values() if each["state"] == "gathering"]
        chosen = {_shard(view): view for view in waiting}
        self._control_load = ControlLoad(
            [lab.engine for lab in (*self.cluster.labs[1:], self.faulty)],
            [
                ControlledCall(each["callId"], each["legs"][0]["channelId"])
                for each in chosen.values()
            ],
        )


@asynccontextmanager
async def open_scenario(setting: Setting, *, uses_proxies: bool = False) -> AsyncIterator[Scenario]:
    """Start servers and calls, watch the owners of shards and control calls."""
    async with AsyncExitStack() as stack:
        cluster = Cluster(setting.folder, engines=0, nodes=2, slots=setting.slots)
        proxies = None
        if uses_proxies:
            proxies = Proxies(TcpProxy(cluster.valkey.port), TcpProxy(cluster.nodes[0].ports.ari))
            for way in (proxies.store, proxies.pbx):
                await stack.enter_async_context(way)
        cluster.add_engine(proxies=() if proxies is None else (proxies.store, proxies.pbx))
        for _ in range(setting.engines - 1):
            cluster.add_engine()
        hooks = await stack.enter_async_context(WebhookServer())
        sounds = await stack.enter_async_context(MediaServer())
        await stack.enter_async_context(cluster)
        scenario = Scenario(cluster, setting, proxies)
        await scenario.arrivals.add_route(scenario.healthy, hooks, sounds)
        await _start_calls(scenario, stack, hooks, sounds)
        await scenario.event_log.read_new()
        scenario.faulty_shards = await cluster.shards_of(scenario.faulty.engine)
        watching = [
            asyncio.create_task(scenario.owners.run()),
            asyncio.create_task(scenario.control_load.run()),
        ]
        try:
            await scenario.wait_for_control()
            yield scenario
        finally:
            await _cancel(watching)


async def _cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        # Repeated, because a client that reconnects may swallow the cancellation.
        _, pending = await asyncio.wait(pending, timeout=1)


async def _start_calls(
    scenario: Scenario, stack: AsyncExitStack, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """Start the calls: of ten, seven gather, one plays and two are bridged."""
    gather = {"maxDigits": 4, "timeout": LONG_MS, "digitTimeout": LONG_MS}
    gather_action = {"type": "gather", "data": gather, "action": hooks.answers("/digits", None)}
    play_action = {"type": "play", "data": {"audioUrl": sounds.tone(600, LONG_MS)}}
    dial_action = {"type": "dial", "data": {"number": "+15559000"}}
    routed = [
        await scenario.healthy.add_number(action)
        for action in (gather_action, play_action, dial_action)
    ]
    numbers = [*[routed[0]] * 7, routed[1], *[routed[2]] * 2]
    folder, cluster, half = scenario.setting.folder, scenario.cluster, scenario.setting.calls // 2
    await stack.enter_async_context(callees(folder / "callees", cluster.trunk_port))
    for node, count in zip(cluster.nodes, (half, scenario.setting.calls - half), strict=True):
        calling = callers(folder / f"callers-{node.name}", node.sip_port, numbers, count)
        await stack.enter_async_context(calling)
    await scenario.wait_for_calls(timeout_s=20 + scenario.setting.calls / PER_S)
    scenario.choose_controlled_calls()
    if len(scenario.views) < len(cluster.shards):
        raise ValueError("too few calls for one call per shard")


def _shard(view: View) -> ShardId:
    return ShardId(view["node"], view["slot"])


def _is_set_up(view: View) -> bool:
    return view["state"] in {"gathering", "playing", "bridged"}
