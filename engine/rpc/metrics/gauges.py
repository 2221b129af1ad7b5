"""Gauges of the current state, read from the shards per scrape."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar, get_args

from base.metrics import CurrentValues, Labels, Metadata
from engine.calls.model.call_states import CallState, Ended
from engine.runtime.call_service import CallService
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.pbx_nodes.node import MAX_LATENCY_MS, Node
from engine.runtime.shard.outbox import CommandState
from engine.runtime.shard.shard import CallShard
from engine.runtime.streams.gateway_pool import GatewayState
from engine.store.writer import MAX_PENDING
from wire.base import tag_of

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
