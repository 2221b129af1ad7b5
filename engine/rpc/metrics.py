"""The /metrics page of an engine: counters, gauges measured for the page, and finished series."""

import asyncio
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from importlib.metadata import version
from typing import TypeVar, get_args

from aiohttp import web
from msgspec import Struct
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector

from base.metrics import CurrentValues, Family, Labels, Metadata, text_of
from engine.calls.model.call_states import CallState, Ended
from engine.observe.metrics import Metrics
from engine.runtime.call_service import CallService
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.pbx_nodes.node import MAX_LATENCY_MS, Node
from engine.runtime.shard.outbox import CommandState
from engine.runtime.shard.shard import CallShard
from engine.runtime.streams.gateway_pool import GatewayState
from engine.store.writer import MAX_PENDING
from wire.base import tag_of

SLICE_S = 0.001  # then live calls take their turn


class MetricsPage(Struct, frozen=True):
    """All metrics of an engine, read per scrape."""

    service: CallService
    shards: ShardMap
    metrics: Metrics
    clips_in_progress: Callable[[], int]

    def families(self) -> Iterator[Family]:
        """Return the families; each is read when it is reached."""
        yield _build()
        yield from call_gauges(self.service)
        yield from shard_gauges(self.service)
        yield from node_gauges(self.service)
        yield from store_gauges(self.service, self.shards)
        yield from limit_gauges(self.service)
        text = "Clips in production or waiting for it"
        yield gauge("switchroom_media_in_progress", text, (), {(): self.clips_in_progress()})
        yield from self.metrics.families

    async def render(self) -> bytes:
        """Return the page; in between, the loop does other work."""
        page, lines = bytearray(), list[str]()
        slice_end_s = time.perf_counter() + SLICE_S
        for family in self.families():
            for text in text_of(family):
                lines.append(text)
                if time.perf_counter() > slice_end_s:
                    page += "".join(lines).encode()
                    lines.clear()
                    await asyncio.sleep(0)
                    slice_end_s = time.perf_counter() + SLICE_S
        page += "".join(lines).encode()
        await asyncio.sleep(0)
        return bytes(page + _process_metrics())

    def held_shards(self) -> set[Labels]:
        """Return the node and slot of each shard."""
        nodes = self.service.nodes.values()
        return {(node.name, str(slot)) for node in nodes for slot in node.shards}


def metrics_routes(page: MetricsPage) -> list[web.RouteDef]:
    """Return the /metrics route; it needs no token and shows no call data."""
    finished = FinishedSeries(page.metrics, time.monotonic)

    async def metrics(_request: web.Request) -> web.Response:
        finished.drop(page.held_shards())
        return web.Response(body=await page.render(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    return [web.get("/metrics", metrics)]


def _process_metrics() -> bytes:
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    return generate_latest(registry)


def _build() -> CurrentValues:
    values = {(version("switchroom"), platform.python_version()): 1}
    text = "Version of this engine; always 1"
    return gauge("switchroom_build_info", text, ("version", "python"), values)


STATES = tuple(each for each in get_args(CallState) if each is not Ended)
SHARD_LABELS = ("node", "slot")
LabelValues = TypeVar("LabelValues", bound=Labels)


def gauge(
    name: str, text: str, labels: Labels, values: Mapping[LabelValues, float]
) -> CurrentValues:
    return CurrentValues(Metadata(name, text, labels), tuple(values.items()))


def call_gauges(service: CallService) -> Iterator[CurrentValues]:
    """Count live calls by state, including states without calls."""
    live: dict[Labels, float] = {}
    for shard in _shards(service):
        counts = Counter(type(live_call.call.state) for live_call in shard.calls.values())
        live |= {(*_labels(shard), tag_of(state)): counts[state] for state in STATES}
    yield gauge("switchroom_calls", "Live calls, by state", (*SHARD_LABELS, "state"), live)


def shard_gauges(service: CallService) -> Iterator[CurrentValues]:
    """Return the queue lengths of each shard, and whether it is paused."""
    shards = {_labels(shard): shard for shard in _shards(service)}
    live_calls = {at: shard.calls.values() for at, shard in shards.items()}
    outbox = {
        at: sum(len(live_call.outbox) for live_call in each) for at, each in live_calls.items()
    }
    queued = {
        at: sum(len(live_call.outbox.find(CommandState.QUEUED)) for live_call in each)
        for at, each in live_calls.items()
    }
    buffered = {at: len(shard.pause_buffer.events) for at, shard in shards.items()}
    paused = {at: shard.is_paused for at, shard in shards.items()}
    for name, text, values in (
        ("switchroom_outbox_commands", "Commands that are not done yet", outbox),
        ("switchroom_ari_queued_commands", "Commands not yet sent to the node", queued),
        ("switchroom_buffered_events", "Events buffered until the node is connected", buffered),
        (
            "switchroom_shard_paused",
            "1 while calls are paused: the node is disconnected, or the lease has expired",
            paused,
        ),
    ):
        yield gauge(name, text, SHARD_LABELS, values)


def node_gauges(service: CallService) -> Iterator[CurrentValues]:
    """Return whether each node is connected, and its ARI latency."""
    nodes = [node for node in service.nodes.values() if node.shards]
    up = {(node.name,): not node.is_paused for node in nodes}
    latency = {(node.name,): node.latency_ms / 1000 for node in nodes}
    yield gauge(
        "switchroom_node_up",
        "1 when a node's shards here are connected",
        ("node",),
        up,
    )
    text = "Average ARI response time of a node"
    yield gauge("switchroom_ari_latency_seconds", text, ("node",), latency)
    yield _gateway_gauge([node for node in nodes if node.gateways])


def _gateway_gauge(nodes: Iterable[Node]) -> CurrentValues:
    """Count the stream gateways of each node by state, including states without gateways."""
    known: dict[Labels, float] = {}
    for node in nodes:
        counts = Counter(each.state for each in node.gateways)
        known |= {(node.name, state): counts[state] for state in get_args(GatewayState)}
    name, text = "switchroom_node_stream_gateways", "Stream gateways of a node, by state"
    return gauge(name, text, ("node", "state"), known)


def store_gauges(service: CallService, shards: ShardMap) -> Iterator[CurrentValues]:
    """Return the shards of this engine, and the state of their commits."""
    owned = {_labels(shard): shard for shard in _shards(service)}
    active = [each for each in shards.all if not shards.layout.is_retired(each)]
    total = gauge(
        "switchroom_shards", "Shards that get new calls, of all engines", (), {(): len(active)}
    )
    yield total
    for name, text, values in (
        (
            "switchroom_shard_held",
            "1 for a shard that this engine owns",
            dict.fromkeys(owned, True),
        ),
        (
            "switchroom_store_up",
            "1 when commits of a shard succeed",
            {labels: shard.can_store for labels, shard in owned.items()},
        ),
        (
            "switchroom_commit_pending_changes",
            "Changes that are not stored yet",
            {labels: shard.backlog[0] for labels, shard in owned.items()},
        ),
    ):
        yield gauge(name, text, SHARD_LABELS, values)


def limit_gauges(service: CallService) -> Iterator[CurrentValues]:
    """Return the limits, and what comes near them."""
    limiter = service.node_selection.rate_limiter
    trunk_legs = "Legs on the trunk, of all engines, as this engine knows them"
    pending = "New calls are rejected when a shard has half as many pending changes"
    latency = "New calls avoid a node with a higher latency"
    for name, text, value in (
        ("switchroom_calls_limit", "Maximum of live calls in this engine", limiter.max_calls),
        ("switchroom_calls_per_second_limit", "Maximum of new calls per second", limiter.per_s),
        ("switchroom_calls_headroom", "New calls that can start now", limiter.available),
        ("switchroom_trunk_legs", trunk_legs, service.node_selection.trunk_legs),
        ("switchroom_commit_pending_limit_changes", pending, MAX_PENDING),
        ("switchroom_ari_latency_limit_seconds", latency, MAX_LATENCY_MS / 1000),
    ):
        yield gauge(name, text, (), {(): value})


def _shards(service: CallService) -> Iterator[CallShard]:
    for node in service.nodes.values():
        yield from node.shards.values()


def _labels(shard: CallShard) -> tuple[str, str]:
    return shard.context.node, str(shard.context.slot)


KEPT_S = 600.0


class FinishedSeries:
    """Remembers when each (node, slot) was last held, and drops its series ten minutes later.

    Until then its last counts are scraped, and a slot that comes back continues them. Later it
    starts at 0 as in a new engine: Prometheus takes a counter that is lower than before for one
    that was reset, so rates and increases contain what was counted since, and nothing twice.
    """

    def __init__(self, metrics: Metrics, monotonic: Callable[[], float]) -> None:
        self._metrics = metrics
        self._monotonic = monotonic
        self._last_held_s: dict[Labels, float] = {}

    def drop(self, held: AbstractSet[Labels]) -> None:
        """Drop what is finished, given the pairs that are held now."""
        now_s = self._monotonic()
        for pair in self._metrics.shards() | held:
            if pair in held:
                self._last_held_s[pair] = now_s
            else:
                self._last_held_s.setdefault(pair, now_s)
        finished = {pair for pair, at_s in self._last_held_s.items() if now_s - at_s > KEPT_S}
        if finished:
            self._metrics.drop_shards(finished)
            for pair in finished:
                del self._last_held_s[pair]
