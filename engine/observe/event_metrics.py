"""Metrics of the events that customers and consumers get; docs/operations/metrics.md has them."""

from collections.abc import Iterable

from base.metrics import (
    FAST_BUCKETS,
    NODE_AND_SLOT,
    SLOW_BUCKETS,
    Counter,
    Gauge,
    Histogram,
)
from wire.shard import ShardId


class CallbackMetrics:
    """Status callbacks: their delivery, and what waits for it."""

    def __init__(self) -> None:
        self.queue_time = Histogram(
            "switchroom_callback_queue_seconds",
            "From an event to its first delivery attempt, if no earlier event was due",
            "kind", bounds=FAST_BUCKETS,
        )  # fmt: skip
        self.attempt_duration = Histogram(
            "switchroom_callback_seconds",
            "Duration of one delivery attempt",
            "kind",
            bounds=SLOW_BUCKETS,
        )
        self.delivered = Counter("switchroom_callbacks_delivered_total", "Events delivered", "kind")
        self.failed = Counter(
            "switchroom_callbacks_failed_total",
            "Failed delivery attempts, by reason",
            "kind",
            "reason",
        )
        self.retried = Counter(
            "switchroom_callbacks_retried_total", "Delivery attempts after the first", "kind"
        )
        self.dead_lettered = Counter(
            "switchroom_callbacks_dead_lettered_total",
            "Events that became dead letters, by reason",
            "reason",
        )
        self.pending_events = Gauge(
            "switchroom_callbacks_pending_events", "Events not delivered yet", *NODE_AND_SLOT
        )
        self.oldest_age = Gauge(
            "switchroom_callbacks_oldest_seconds",
            "Age of the oldest due event",
            *NODE_AND_SLOT,
        )
        self.open_circuits = Gauge(
            "switchroom_callback_open_circuits", "Targets paused because they fail"
        )
        for reason in ("overflow", "circuit_open", "timeout", "gone", "stopped"):
            self.dead_lettered.initialize(reason)  # an alert needs the series from the start

    def set_pending(self, shard: ShardId, waiting: int, oldest_ms: int) -> None:
        self.pending_events.table(shard.node)[str(shard.slot)] = waiting
        self.oldest_age.table(shard.node)[str(shard.slot)] = oldest_ms // 1000

    def clear_shard(self, shard: ShardId) -> None:
        """Remove a shard that another engine owns."""
        self.pending_events.table(shard.node).pop(str(shard.slot), None)
        self.oldest_age.table(shard.node).pop(str(shard.slot), None)


class WebhookLogMetrics:
    """The log of requests to customers' servers."""

    def __init__(self) -> None:
        self.recorded = Counter(
            "switchroom_webhook_log_attempts_total", "Attempts stored in the webhook log"
        )
        self.dropped = Counter(
            "switchroom_webhook_log_dropped_total",
            "Attempts that the webhook log does not have, by reason",
            "reason",
        )
        for reason in ("queue_full", "store_down", "not_storable"):
            self.dropped.initialize(reason)  # an alert needs the series from the start


class ListenerMetrics:
    """Listeners: developers' machines that answer webhooks instead of their addresses."""

    def __init__(self) -> None:
        self.connected = Gauge(
            "switchroom_listeners", "Live listeners of all accounts, as this engine knows them"
        )
        self.requests = Counter(
            "switchroom_listener_requests_total",
            "Requests to listeners instead of their addresses, by outcome",
            "outcome",
        )
        self.connected.table()[""] = 0  # an engine without listeners shows that it has none


class ConsumerGroupMetrics:
    """Consumer groups of the event stream."""

    def __init__(self) -> None:
        self.lag = Gauge(
            "switchroom_event_group_lag_events", "Events that a group has not read yet", "group"
        )
        self.pending = Gauge(
            "switchroom_event_group_pending_events",
            "Events read, but not acknowledged yet",
            "group",
        )
        self.lost = Gauge(
            "switchroom_event_group_lost_events",
            "Maximum of events a group has lost and not acknowledged",
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
