"""The scene of a fault: two PBX nodes, one Valkey, two engines, and many live calls on them."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.chaos.arrivals import Arrivals
from tests.chaos.control import ControlledCall, ControlLoad
from tests.chaos.event_log import EventLog
from tests.chaos.latency import hangup_ms
from tests.chaos.owners import OwnerWatch
from tests.chaos.phones import PER_S, callees, callers
from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.monotonic import now_ms
from tests.harness.servers.cluster import SLOTS, Cluster
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.until import until

LONG_MS = 180_000
View = dict[str, Any]


class Setting(Struct, frozen=True):
    """How many calls live, how many come a second and for how long, and where files go."""

    folder: Path
    calls: int
    per_s: int = 20
    arriving_s: float = 20


class Proxies(Struct, frozen=True):
    """What the first engine's network leads through, where a fault cuts it."""

    store: TcpProxy
    pbx: TcpProxy


class Scenario:
    """What a fault finds, and what is measured of it; the first engine is the one that is hurt."""

    def __init__(self, cluster: Cluster, setting: Setting, proxies: Proxies | None) -> None:
        self.cluster = cluster
        self.setting = setting
        self.dead_pids: set[int] = set()  # engines that are dead, though the store may not know yet
        self.views: Mapping[str, View] = {}
        self.expected_to_end: set[str] = set()  # calls that are to end by the fault
        self.arrivals = Arrivals(setting.per_s, setting.arriving_s, setting.folder)
        self.event_log = EventLog(cluster.valkey.url)
        self.owners = OwnerWatch(cluster.valkey.url, self.dead_pids)
        self.planned_hangups: set[str] = (
            set()
        )  # calls that are hung up to see how soon that is felt
        self.timed_hangup: asyncio.Task[float] | None = None
        self.faulty_slots: list[int] = []
        self.since_ms = 0.0
        self._proxies = proxies
        self._control_load: ControlLoad | None = None

    @property
    def faulty(self) -> Lab:
        """The lab as seen through the engine that is hurt."""
        return self.cluster.labs[0]

    @property
    def healthy(self) -> Lab:
        """The lab as seen through the engine that is asked: the second, if it runs."""
        labs = self.cluster.labs[1:] + self.cluster.labs[:1]
        return next((lab for lab in labs if lab.engine.running()), labs[0])

    @property
    def proxies(self) -> Proxies:
        """What can be cut; raises RuntimeError if this scene's network can't."""
        if self._proxies is None:
            raise RuntimeError("this scene has no ways to cut")
        return self._proxies

    @property
    def control_load(self) -> ControlLoad:
        """What steers calls; raises RuntimeError before there are any."""
        if self._control_load is None:
            raise RuntimeError("nothing is steered yet")
        return self._control_load

    def start_measuring(self) -> None:
        """Let waits count from now: the fault begins, or what was away is back."""
        self.since_ms = now_ms()
        view = self._choose_call_to_hang_up()
        self.planned_hangups.add(view["callId"])
        node = next(each for each in self.cluster.nodes if each.name == view["node"])
        seen = Lab(self.cluster.valkey, node, self.healthy.engine, self.cluster.trunk_port)
        self.timed_hangup = asyncio.create_task(hangup_ms(lambda: self.healthy, seen, view))

    def _choose_call_to_hang_up(self) -> View:
        """Choose a call of the engine that is hurt, on the first node unless that is to die."""
        spared = self.expected_to_end | self.control_load.calls
        free = [view for call, view in self.views.items() if call not in spared]
        return min(free, key=lambda view: (view["slot"] not in self.faulty_slots, view["node"]))

    async def wait_for_control(self, timeout_s: float = 30) -> None:
        """Wait until every steered call does what is asked from now on."""
        await self.control_load.wait_for_control(now_ms(), timeout_s)

    def exclude_node(self, node: str) -> None:
        """Steer nothing on a node any more."""
        self.control_load.exclude(
            {each for each, view in self.views.items() if view["node"] == node}
        )

    async def wait_for_calls(self, timeout_s: float = 20) -> Mapping[str, View]:
        """Show the calls that live, once they are as many as there should be."""

        async def all_there() -> bool:
            shown = (await self.healthy.engine.rpc("GET", "/calls"))["calls"]
            self.views = {each["callId"]: each for each in shown if _is_set_up(each)}
            return len(self.views) == self.setting.calls

        await until(all_there, timeout_s=timeout_s, every_s=0.2, what="all calls to live")
        return self.views

    def choose_controlled_calls(self) -> None:
        """Choose what is steered: a gathering call of each slot, of either node in turn."""
        waiting = [each for each in self.views.values() if each["state"] == "gathering"]
        waiting.sort(key=lambda view: view["node"][-1:] == str(view["slot"] % 2 + 1))
        chosen = {view["slot"]: view for view in waiting}
        self._control_load = ControlLoad(
            [self.healthy.engine, self.faulty.engine],
            [
                ControlledCall(each["callId"], each["legs"][0]["channelId"])
                for each in chosen.values()
            ],
        )


@asynccontextmanager
async def open_scenario(setting: Setting, *, is_cut: bool = False) -> AsyncIterator[Scenario]:
    """Set the scene: everything runs, the calls live, owners are watched and calls steered."""
    async with AsyncExitStack() as stack:
        cluster = Cluster(setting.folder, engines=0, nodes=2)
        proxies = None
        if is_cut:
            proxies = Proxies(TcpProxy(cluster.valkey.port), TcpProxy(cluster.nodes[0].ports.ari))
            for way in (proxies.store, proxies.pbx):
                await stack.enter_async_context(way)
        cluster.add_engine(proxies=() if proxies is None else (proxies.store, proxies.pbx))
        cluster.add_engine()
        hooks = await stack.enter_async_context(WebhookServer())
        sounds = await stack.enter_async_context(MediaServer())
        await stack.enter_async_context(cluster)
        made = Scenario(cluster, setting, proxies)
        await made.arrivals.add_route(made.healthy, hooks, sounds)
        await _start_calls(made, stack, hooks, sounds)
        await made.event_log.read_new()
        made.faulty_slots = await cluster.slots_of(made.faulty.engine)
        watching = [
            asyncio.create_task(made.owners.run()),
            asyncio.create_task(made.control_load.run()),
        ]
        try:
            await made.wait_for_control()
            yield made
        finally:
            await _cancel(watching)


async def _cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        # Once more after a while: a client in the middle of a reconnection may swallow it.
        _, pending = await asyncio.wait(pending, timeout=1)


async def _start_calls(
    made: Scenario, stack: AsyncExitStack, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """Let the calls come in: most wait for digits, some hear a prompt, some talk."""
    gather = {"maxDigits": 4, "timeout": LONG_MS, "digitTimeout": LONG_MS}
    waits = {"type": "gather", "data": gather, "action": hooks.answers("/digits", None)}
    hears = {"type": "play", "data": {"audioUrl": sounds.tone(600, LONG_MS)}}
    talks = {"type": "dial", "data": {"number": "+15559000"}}
    routed = [await made.healthy.add_number(action) for action in (waits, hears, talks)]
    numbers = [*[routed[0]] * 7, routed[1], *[routed[2]] * 2]
    folder, cluster, half = made.setting.folder, made.cluster, made.setting.calls // 2
    await stack.enter_async_context(callees(folder / "callees", cluster.trunk_port))
    for node, count in zip(cluster.nodes, (half, made.setting.calls - half), strict=True):
        calling = callers(folder / f"callers-{node.name}", node.sip_port, numbers, count)
        await stack.enter_async_context(calling)
    await made.wait_for_calls(timeout_s=20 + made.setting.calls / PER_S)
    made.choose_controlled_calls()
    if len(made.views) < SLOTS:
        raise ValueError("too few calls for every slot to have one")


def _is_set_up(view: View) -> bool:
    return view["state"] in {"gathering", "playing", "bridged"}
