"""Gauges of the current state, read from the shards per scrape."""

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from prometheus_client.core import GaugeMetricFamily

from engine.calls.model.state import CallState, Ended
from engine.runtime.nodes.node import MAX_LATENCY_MS
from engine.runtime.service import CallService
from engine.runtime.shard.shard import CallShard
from engine.store.writer import MAX_PENDING
from wire.base import tag_of

STATES = tuple(each for each in get_args(CallState) if each is not Ended)
SHARD_LABELS = ("node", "slot")


def gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=labels)


def call_gauges(service: CallService) -> Iterator[GaugeMetricFamily]:
    """Count live calls by state, including states without calls."""
    live = gauge("switchroom_calls", "Live calls, by state", *SHARD_LABELS, "state")
    for shard in _shards(service):
        counts = Counter(type(actor.call.state) for actor in shard.actors.values())
        for state in STATES:
            live.add_metric([*_labels(shard), tag_of(state)], counts[state])
    yield live


def shard_gauges(service: CallService) -> Iterator[GaugeMetricFamily]:
    """Return the queue lengths of each shard, and whether it is paused."""
    outbox = gauge("switchroom_outbox_commands", "Commands that are not done yet", *SHARD_LABELS)
    queued = gauge(
        "switchroom_ari_queued_commands", "Commands not yet sent to the node", *SHARD_LABELS
    )
    buffered = gauge(
        "switchroom_buffered_events", "Events buffered until the node is connected", *SHARD_LABELS
    )
    paused = gauge(
        "switchroom_shard_paused",
        "1 while calls are paused because the node is disconnected",
        *SHARD_LABELS,
    )
    for shard in _shards(service):
        labels = _labels(shard)
        actors = shard.actors.values()
        outbox.add_metric(labels, sum(len(actor.outbox) for actor in actors))
        queued.add_metric(labels, sum(len(actor.queue) for actor in actors))
        buffered.add_metric(labels, len(shard.pause_buffer.events))
        paused.add_metric(labels, shard.is_paused)
    yield from (outbox, queued, buffered, paused)


def node_gauges(service: CallService) -> Iterator[GaugeMetricFamily]:
    """Return whether each node is connected, and its ARI latency."""
    up = gauge("switchroom_node_up", "1 when the node is connected for all slots", "node")
    latency = gauge("switchroom_ari_latency_seconds", "Average ARI response time of a node", "node")
    for node in service.nodes.values():
        up.add_metric([node.name], not node.is_paused)
        latency.add_metric([node.name], node.latency_ms / 1000)
    yield from (up, latency)


def slot_gauges(service: CallService, count: int) -> Iterator[GaugeMetricFamily]:
    """Return the slots of this engine, and the state of their commits."""
    owned = {shard.context.slot: shard for shard in _shards(service)}
    configured = gauge("switchroom_slots", "Slots in total, of all engines")
    held = gauge("switchroom_slot_held", "1 for a slot that this engine owns", "slot")
    writable = gauge("switchroom_store_up", "1 when commits of a slot succeed", "slot")
    waiting = gauge("switchroom_commit_pending_changes", "Changes that are not stored yet", "slot")
    configured.add_metric([], count)
    for slot in range(count):
        held.add_metric([str(slot)], slot in owned)
    for slot, shard in owned.items():
        writable.add_metric([str(slot)], shard.can_store)
        waiting.add_metric([str(slot)], shard.uncommitted)
    yield from (configured, held, writable, waiting)


def limit_gauges(service: CallService) -> Iterator[GaugeMetricFamily]:
    """Return the limits, for comparison with the current values."""
    limiter = service.placement.rate_limiter
    for name, text, value in (
        ("switchroom_calls_limit", "Maximum of live calls in this engine", limiter.max_calls),
        ("switchroom_calls_per_second_limit", "Maximum of new calls per second", limiter.per_s),
        ("switchroom_calls_headroom", "New calls that can start now", limiter.available),
        (
            "switchroom_commit_pending_limit_changes",
            "New calls are rejected when a slot has half as many pending changes",
            MAX_PENDING,
        ),
        (
            "switchroom_ari_latency_limit_seconds",
            "New calls avoid a node with a higher latency",
            MAX_LATENCY_MS / 1000,
        ),
    ):
        limit = gauge(name, text)
        limit.add_metric([], value)
        yield limit


def _shards(service: CallService) -> Iterator[CallShard]:
    for node in service.nodes.values():
        yield from node.shards.values()


def _labels(shard: CallShard) -> tuple[str, str]:
    return shard.context.node, str(shard.context.slot)
