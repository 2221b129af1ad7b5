"""Metrics of the engine's own work: calls, nodes, the store."""

from engine.observe.metric_types import (
    FAST_BUCKETS,
    LATENESS_BUCKETS,
    NODE_AND_SLOT,
    SIZE_BUCKETS,
    SLOW_BUCKETS,
    Counter,
    Histogram,
)


class CallMetrics:
    """Calls, from start to end."""

    def __init__(self) -> None:
        self.started = Counter(
            "switchroom_calls_started_total", "Calls that began here", *NODE_AND_SLOT, "direction"
        )
        self.ended = Counter(
            "switchroom_calls_ended_total",
            "Calls that ended, by how they stood",
            *NODE_AND_SLOT, "direction", "status",
        )  # fmt: skip
        self.dropped = Counter(
            "switchroom_calls_dropped_total", "Calls ended by a fault in the engine", *NODE_AND_SLOT
        )
        self.lost = Counter(
            "switchroom_calls_lost_total", "Calls lost with a node that stayed away", *NODE_AND_SLOT
        )
        self.taken_over = Counter(
            "switchroom_calls_taken_over_total",
            "Calls of other engines that go on here",
            *NODE_AND_SLOT,
        )
        self.rejected = Counter(
            "switchroom_calls_rejected_total",
            "Calls that were not let in, by why",
            "direction", "reason",
        )  # fmt: skip
        self.timer_lateness = Histogram(
            "switchroom_timer_lateness_seconds",
            "How long after its moment a call's timer fired",
            *NODE_AND_SLOT, bounds=LATENESS_BUCKETS,
        )  # fmt: skip


class NodeMetrics:
    """PBX nodes and requests to them."""

    def __init__(self) -> None:
        self.events = Counter(
            "switchroom_events_total", "Events heard, by type", *NODE_AND_SLOT, "type"
        )
        self.request_duration = Histogram(
            "switchroom_ari_request_seconds",
            "How long a node took to answer a call's request",
            *NODE_AND_SLOT, "transport", bounds=FAST_BUCKETS,
        )  # fmt: skip
        self.request_failures = Counter(
            "switchroom_ari_failures_total",
            "Requests that a node did not do, by status; lost: no answer came",
            *NODE_AND_SLOT, "status",
        )  # fmt: skip
        self.disconnects = Counter(
            "switchroom_node_disconnects_total", "Times a node was lost sight of", *NODE_AND_SLOT
        )
        self.recovery_duration = Histogram(
            "switchroom_recovery_seconds",
            "From being heard again until all calls went on",
            *NODE_AND_SLOT, bounds=SLOW_BUCKETS,
        )  # fmt: skip
        self.orphans_removed = Counter(
            "switchroom_orphans_removed_total", "Channels, bridges, calls ended as nobody's", "node"
        )


class StoreMetrics:
    """Commits and slot ownership."""

    def __init__(self) -> None:
        self.commit_duration = Histogram(
            "switchroom_commit_seconds", "How long a commit took", "slot", bounds=FAST_BUCKETS
        )
        self.commit_size = Histogram(
            "switchroom_commit_changes", "Changes in one commit", "slot", bounds=SIZE_BUCKETS
        )
        self.commit_failures = Counter(
            "switchroom_commit_failures_total", "Commits that found the store down", "slot"
        )
        self.slot_changes = Counter(
            "switchroom_slot_changes_total",
            "What became of slots: acquired, lost, released, paused, restored",
            "slot", "change",
        )  # fmt: skip
        self.takeover_duration = Histogram(
            "switchroom_takeover_seconds",
            "From a slot's claim until its calls were read",
            "slot", bounds=SLOW_BUCKETS,
        )  # fmt: skip
