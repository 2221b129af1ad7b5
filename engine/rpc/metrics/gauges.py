"""How things stand at this moment, as gauges: read off the desks when somebody asks."""

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from prometheus_client.core import GaugeMetricFamily

from engine.calls.model.state import Doing, Over
from engine.runtime.nodes.node import MAX_LATENCY_MS
from engine.runtime.service import Switch
from engine.runtime.shard.shard import CallShard
from engine.store.writer import MOST_WAITING
from wire.base import tag_of

STATES = tuple(each for each in get_args(Doing) if each is not Over)
PLACE = ("node", "slot")


def gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    """Make a family of gauges."""
    return GaugeMetricFamily(name, text, labels=labels)


def calls(switch: Switch) -> Iterator[GaugeMetricFamily]:
    """Count live calls by what they do; a state without calls is told, too."""
    live = gauge("switchroom_calls", "Live calls, by state", *PLACE, "state")
    for desk in _all(switch):
        found = Counter(type(actor.call.doing) for actor in desk.actors.values())
        for state in STATES:
            live.add_metric([*_place(desk), tag_of(state)], found[state])
    yield live


def desks(switch: Switch) -> Iterator[GaugeMetricFamily]:
    """Tell what waits at each desk, and for what."""
    outbox = gauge("switchroom_outbox_commands", "Commands wanted and not yet done", *PLACE)
    queued = gauge("switchroom_ari_queued_commands", "Commands not yet sent to the node", *PLACE)
    kept = gauge("switchroom_buffered_events", "Events kept until the node is heard", *PLACE)
    held = gauge("switchroom_shard_paused", "1 while calls stand still, the node unheard", *PLACE)
    for desk in _all(switch):
        place = _place(desk)
        actors = desk.actors.values()
        outbox.add_metric(place, sum(len(actor.outbox) for actor in actors))
        queued.add_metric(place, sum(len(actor.queue) for actor in actors))
        kept.add_metric(place, len(desk.standstill.kept))
        held.add_metric(place, desk.is_held)
    yield from (outbox, queued, kept, held)


def nodes(switch: Switch) -> Iterator[GaugeMetricFamily]:
    """Tell whether each node is heard, and how hard it breathes."""
    up = gauge("switchroom_node_up", "1 when all of a node's events are heard", "node")
    strain = gauge("switchroom_ari_latency_seconds", "How long a node takes to answer", "node")
    for node in switch.nodes.values():
        up.add_metric([node.name], not node.is_away)
        strain.add_metric([node.name], node.strain_ms / 1000)
    yield from (up, strain)


def slots(switch: Switch, count: int) -> Iterator[GaugeMetricFamily]:
    """Tell which slots are this engine's, and how the store is doing for each."""
    of_slot = {desk.place.slot: desk for desk in _all(switch)}
    configured = gauge("switchroom_slots", "Slots that there are, of all engines")
    held = gauge("switchroom_slot_held", "1 for a slot that this engine holds", "slot")
    writable = gauge("switchroom_store_up", "1 when commits of a slot go through", "slot")
    waiting = gauge("switchroom_commit_pending_changes", "Changes not stored yet", "slot")
    configured.add_metric([], count)
    for slot in range(count):
        held.add_metric([str(slot)], slot in of_slot)
    for slot, desk in of_slot.items():
        writable.add_metric([str(slot)], desk.can_store)
        waiting.add_metric([str(slot)], desk.unstored)
    yield from (configured, held, writable, waiting)


def limits(switch: Switch) -> Iterator[GaugeMetricFamily]:
    """Tell where each limit lies, for comparison with what comes near it."""
    gate = switch.placement.gate
    for name, text, value in (
        ("switchroom_calls_limit", "Most live calls in this engine", gate.most),
        ("switchroom_calls_per_second_limit", "Most new calls a second", gate.per_s),
        ("switchroom_calls_headroom", "New calls that could begin at once", gate.room),
        (
            "switchroom_commit_pending_limit_changes",
            "No new call when half of this waits in a slot",
            MOST_WAITING,
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


def _all(switch: Switch) -> Iterator[CallShard]:
    for node in switch.nodes.values():
        yield from node.desks.values()


def _place(desk: CallShard) -> tuple[str, str]:
    return desk.place.node, str(desk.place.slot)
