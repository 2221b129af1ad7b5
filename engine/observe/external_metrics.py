"""Metrics of work with others: customers' servers, media, RPC clients, event consumers."""

from collections.abc import Iterable

from engine.observe.metric_types import (
    FAST_BUCKETS,
    NODE_AND_SLOT,
    SLOW_BUCKETS,
    Counter,
    Gauge,
    Histogram,
)


class ExternalMetrics:
    """Requests to others, and RPC requests."""

    def __init__(self) -> None:
        self.webhook_duration = Histogram(
            "switchroom_webhook_seconds",
            "How long a question to a customer's server took, tries and pauses included",
            *NODE_AND_SLOT, "outcome", bounds=SLOW_BUCKETS,
        )  # fmt: skip
        self.webhook_failures = Counter(
            "switchroom_webhook_failures_total", "Questions without a usable answer, by why",
            *NODE_AND_SLOT, "reason",
        )  # fmt: skip
        self.webhook_retries = Counter(
            "switchroom_webhook_retries_total", "Questions that were asked twice", *NODE_AND_SLOT
        )
        self.media_duration = Histogram(
            "switchroom_media_seconds",
            "How long it took to fetch or speak a clip that was not at hand",
            "kind", "outcome", bounds=SLOW_BUCKETS,
        )  # fmt: skip
        self.media_failures = Counter(
            "switchroom_media_failures_total", "Clips that could not be made, by why",
            "kind", "reason",
        )  # fmt: skip
        self.rpc_duration = Histogram(
            "switchroom_rpc_request_seconds",
            "How long a request to this engine took, the event stream aside",
            "operation", "status", bounds=FAST_BUCKETS,
        )  # fmt: skip


class CallbackMetrics:
    """Status callbacks."""

    def __init__(self) -> None:
        self.queue_time = Histogram(
            "switchroom_callback_queue_seconds",
            "From an event until it is sent for the first time, where nothing was due before",
            "kind", bounds=FAST_BUCKETS,
        )  # fmt: skip
        self.attempt_duration = Histogram(
            "switchroom_callback_seconds", "How long one try took", "kind", bounds=SLOW_BUCKETS
        )
        self.delivered = Counter(
            "switchroom_callbacks_delivered_total", "Events that have arrived", "kind"
        )
        self.failed = Counter(
            "switchroom_callbacks_failed_total", "Tries that failed, by why", "kind", "reason"
        )
        self.retried = Counter(
            "switchroom_callbacks_retried_total", "Tries that were not an event's first", "kind"
        )
        self.dead_lettered = Counter(
            "switchroom_callbacks_dead_lettered_total",
            "Events that were given up, by why",
            "reason",
        )
        self.pending_events = Gauge(
            "switchroom_callbacks_pending_events", "Events that have not arrived yet", "slot"
        )
        self.oldest_age = Gauge(
            "switchroom_callbacks_oldest_seconds",
            "How long the call that has waited longest has had events due",
            "slot",
        )
        self.open_circuits = Gauge(
            "switchroom_callback_open_circuits", "Targets that are left alone just now"
        )
        for reason in ("overflow", "circuit_open", "timeout", "gone"):
            self.dead_lettered.initialize(
                reason
            )  # published from the start, because an alert uses them

    def set_pending(self, slot: int, waiting: int, oldest_ms: int) -> None:
        """Set the backlog of a slot's outbox."""
        self.pending_events.table()[str(slot)] = waiting
        self.oldest_age.table()[str(slot)] = oldest_ms // 1000

    def clear_slot(self, slot: int) -> None:
        """Remove a slot that another engine owns."""
        self.pending_events.table().pop(str(slot), None)
        self.oldest_age.table().pop(str(slot), None)


class ConsumerGroupMetrics:
    """Consumer groups of the event stream."""

    def __init__(self) -> None:
        self.lag = Gauge(
            "switchroom_event_group_lag_events", "Events not given to a group yet", "group"
        )
        self.pending = Gauge(
            "switchroom_event_group_pending_events", "Given, and not acknowledged yet", "group"
        )
        self.lost = Gauge(
            "switchroom_event_group_lost_events",
            "Events that a group has lost at most, and does not know of yet",
            "group",
        )

    def update(self, groups: Iterable[tuple[str, int, int, int]]) -> None:
        """Set the positions of groups: lag, pending and lost, for each slot."""
        tables = [level.table() for level in (self.lag, self.pending, self.lost)]
        for table in tables:
            table.clear()
        for group, *numbers in groups:
            for table, number in zip(tables, numbers, strict=True):
                table[group] += number
