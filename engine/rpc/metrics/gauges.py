"""How things stand at this moment, as gauges: read off the desks when somebody asks."""

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
    """Make a family of gauges."""
    return GaugeMetricFamily(name, text, labels=labels)


def call_gauges(switch: CallService) -> Iterator[GaugeMetricFamily]:
    """Count live calls by what they do; a state without calls is told, too."""
    live = gauge("switchroom_calls", "Live calls, by state", *SHARD_LABELS, "state")
    for desk in _all(switch):
        found = Counter(type(actor.call.state) for actor in desk.actors.values())
        for state in STATES:
            live.add_metric([*_place(desk), tag_of(state)], found[state])
    yield live


def shard_gauges(switch: CallService) -> Iterator[GaugeMetricFamily]:
    """Tell what waits at each desk, and for what."""
    outbox = gauge("switchroom_outbox_commands", "Commands wanted and not yet done", *SHARD_LABELS)
    queued = gauge(
        "switchroom_ari_queued_commands", "Commands not yet sent to the node", *SHARD_LABELS
    )
    kept = gauge("switchroom_buffered_events", "Events kept until the node is heard", *SHARD_LABELS)
    held = gauge(
        "switchroom_shard_paused", "1 while calls stand still, the node unheard", *SHARD_LABELS
    )
    for desk in _all(switch):
        place = _place(desk)
        actors = desk.actors.values()
        outbox.add_metric(place, sum(len(actor.outbox) for actor in actors))
        queued.add_metric(place, sum(len(actor.queue) for actor in actors))
        kept.add_metric(place, len(desk.pause_buffer.events))
        held.add_metric(place, desk.is_paused)
    yield from (outbox, queued, kept, held)


def node_gauges(switch: CallService) -> Iterator[GaugeMetricFamily]:
    """Tell whether each node is heard, and how hard it breathes."""
    up = gauge("switchroom_node_up", "1 when all of a node's events are heard", "node")
    strain = gauge("switchroom_ari_latency_seconds", "How long a node takes to answer", "node")
    for node in switch.nodes.values():
        up.add_metric([node.name], not node.is_paused)
        strain.add_metric([node.name], node.latency_ms / 1000)
    yield from (up, strain)


def slot_gauges(switch: CallService, count: int) -> Iterator[GaugeMetricFamily]:
    """Tell which slots are this engine's, and how the store is doing for each."""
    of_slot = {desk.context.slot: desk for desk in _all(switch)}
    configured = gauge("switchroom_slots", "Slots that there are, of all engines")
    held = gauge("switchroom_slot_held", "1 for a slot that this engine holds", "slot")
    writable = gauge("switchroom_store_up", "1 when commits of a slot go through", "slot")
    waiting = gauge("switchroom_commit_pending_changes", "Changes not stored yet", "slot")
    configured.add_metric([], count)
    for slot in range(count):
        held.add_metric([str(slot)], slot in of_slot)
    for slot, desk in of_slot.items():
        writable.add_metric([str(slot)], desk.can_store)
        waiting.add_metric([str(slot)], desk.uncommitted)
    yield from (configured, held, writable, waiting)


def limit_gauges(switch: CallService) -> Iterator[GaugeMetricFamily]:
    """Tell where each limit lies, for comparison with what comes near it."""
    gate = switch.placement.rate_limiter
    for name, text, value in (
        ("switchroom_calls_limit", "Most live calls in this engine", gate.max_calls),
        ("switchroom_calls_per_second_limit", "Most new calls a second", gate.per_s),
        ("switchroom_calls_headroom", "New calls that could begin at once", gate.available),
        (
            "switchroom_commit_pending_limit_changes",
            "No new call when half of this waits in a slot",
            MAX_PENDING,
        ),
        (
            "switchroom_ari_latency_limit_seconds",
            "No new call on a node that is slower",
            MAX_LATENCY_MS / 1000,
        ),
    ):
        one = gauge(name, text)
        one.add_metric([], value)
        yield one


def _all(switch: CallService) -> Iterator[CallShard]:
    for node in switch.nodes.values():
        yield from node.shards.values()


def _place(desk: CallShard) -> tuple[str, str]:
    return desk.context.node, str(desk.context.slot)
