"""All metrics of an engine, by subject; docs/operations/metrics.md explains them."""

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet

from base.metrics import (
    FAST_BUCKETS,
    LATENESS_BUCKETS,
    NODE_AND_SLOT,
    SIZE_BUCKETS,
    SLOW_BUCKETS,
    Counter,
    Gauge,
    Histogram,
    Labels,
)
from engine.observe.event_metrics import (
    CallbackMetrics,
    ConsumerGroupMetrics,
    ListenerMetrics,
    WebhookLogMetrics,
)


class CallMetrics:
    """Calls, from start to end."""

    def __init__(self) -> None:
        self.started = Counter(
            "switchroom_calls_started_total",
            "Calls that started in this engine",
            *NODE_AND_SLOT,
            "direction",
        )
        self.ended = Counter(
            "switchroom_calls_ended_total",
            "Calls that ended, by final status",
            *NODE_AND_SLOT, "direction", "status",
        )  # fmt: skip
        self.dropped = Counter(
            "switchroom_calls_dropped_total", "Calls ended by a fault in the engine", *NODE_AND_SLOT
        )
        self.lost = Counter(
            "switchroom_calls_lost_total", "Calls lost with a disconnected node", *NODE_AND_SLOT
        )
        self.taken_over = Counter(
            "switchroom_calls_taken_over_total",
            "Calls taken over from other engines",
            *NODE_AND_SLOT,
        )
        self.unreadable = Gauge(
            "switchroom_unreadable_calls",
            "Live calls that a later version stored and this engine leaves alone",
            *NODE_AND_SLOT,
        )
        self.rejected = Counter(
            "switchroom_calls_rejected_total",
            "New calls rejected, by reason",
            "direction", "reason",
        )  # fmt: skip
        self.parties_rejected = Counter(
            "switchroom_parties_rejected_total", "Legs that were not dialled, by reason", "reason"
        )
        self.refers_declined = Counter(
            "switchroom_refers_declined_total", "REFERs of phones that were declined"
        )
        self.failed_recordings = Counter(
            "switchroom_recordings_failed_total",
            "Recordings that are lost, or much shorter than their calls",
            "node", "reason",
        )  # fmt: skip
        self.timer_lateness = Histogram(
            "switchroom_timer_lateness_seconds",
            "Delay between a call's deadline and its timer",
            *NODE_AND_SLOT, bounds=LATENESS_BUCKETS,
        )  # fmt: skip


class NodeMetrics:
    """PBX nodes and requests to them."""

    def __init__(self) -> None:
        self.events = Counter(
            "switchroom_events_total", "ARI events received, by type", *NODE_AND_SLOT, "type"
        )
        self.request_duration = Histogram(
            "switchroom_ari_request_seconds",
            "Response time of a node to a call's request",
            *NODE_AND_SLOT, "transport", bounds=FAST_BUCKETS,
        )  # fmt: skip
        self.request_failures = Counter(
            "switchroom_ari_failures_total",
            "Failed requests to a node, by status; lost: no response",
            *NODE_AND_SLOT, "status",
        )  # fmt: skip
        self.disconnects = Counter(
            "switchroom_node_disconnects_total", "Disconnects of a node", *NODE_AND_SLOT
        )
        self.recovery_duration = Histogram(
            "switchroom_recovery_seconds",
            "From the reconnection of a node until its calls continued",
            *NODE_AND_SLOT, bounds=SLOW_BUCKETS,
        )  # fmt: skip
        self.recovery_failures = Counter(
            "switchroom_recovery_failures_total",
            "Errors of the engine while it recovered the calls of a node",
            *NODE_AND_SLOT,
        )
        self.failed_logins = Counter(
            "switchroom_node_failed_logins_total",
            "Refused logins at a node, as each engine sees them: sip, ami",
            "node", "service",
        )  # fmt: skip
        self.orphans_removed = Counter(
            "switchroom_orphans_removed_total", "Orphaned channels, bridges, calls ended", "node"
        )


class StoreMetrics:
    """Commits and the ownership of shards."""

    def __init__(self) -> None:
        self.commit_duration = Histogram(
            "switchroom_commit_seconds",
            "Duration of a commit",
            *NODE_AND_SLOT,
            bounds=FAST_BUCKETS,
        )
        self.commit_size = Histogram(
            "switchroom_commit_changes",
            "Changes in one commit",
            *NODE_AND_SLOT,
            bounds=SIZE_BUCKETS,
        )
        self.commit_failures = Counter(
            "switchroom_commit_failures_total", "Commits that failed", *NODE_AND_SLOT
        )
        self.shard_changes = Counter(
            "switchroom_shard_changes_total",
            "Shard changes: acquired, lost, released, paused, restored",
            *NODE_AND_SLOT, "change",
        )  # fmt: skip
        self.takeover_duration = Histogram(
            "switchroom_takeover_seconds",
            "From the claim of a shard until its calls were loaded",
            *NODE_AND_SLOT, bounds=SLOW_BUCKETS,
        )  # fmt: skip


class ClockMetrics:
    """The engine's clock."""

    def __init__(self) -> None:
        self.offset = Gauge(
            "switchroom_clock_offset_seconds", "How far the clock is ahead of the store's"
        )
        self.corrections = Counter(
            "switchroom_clock_corrections_total", "Corrections after the host's clock was set"
        )


class ExternalMetrics:
    """Webhook, media and RPC requests."""

    def __init__(self) -> None:
        self.webhook_duration = Histogram(
            "switchroom_webhook_seconds",
            "Duration of a request to a customer's server, retry included",
            *NODE_AND_SLOT, "outcome", bounds=SLOW_BUCKETS,
        )  # fmt: skip
        self.webhook_failures = Counter(
            "switchroom_webhook_failures_total", "Requests without a usable response, by reason",
            *NODE_AND_SLOT, "reason",
        )  # fmt: skip
        self.webhook_retries = Counter(
            "switchroom_webhook_retries_total", "Requests sent a second time", *NODE_AND_SLOT
        )
        self.media_duration = Histogram(
            "switchroom_media_seconds",
            "Time to fetch or synthesize a clip that was not cached",
            "kind", "outcome", bounds=SLOW_BUCKETS,
        )  # fmt: skip
        self.media_failures = Counter(
            "switchroom_media_failures_total", "Clips that could not be produced, by reason",
            "kind", "reason",
        )  # fmt: skip
        self.rpc_duration = Histogram(
            "switchroom_rpc_request_seconds",
            "Duration of an RPC request, except the event stream",
            "operation", "status", bounds=FAST_BUCKETS,
        )  # fmt: skip
        self.rpc_denied = Counter(
            "switchroom_rpc_denied_total", "Denied RPC requests, by reason", "reason"
        )
        for reason in ("token", "signature", "read_only"):
            self.rpc_denied.initialize(reason)  # an alert needs the series from the start


class Metrics:
    """The families, by subject; one instance for each engine."""

    def __init__(self) -> None:
        self.calls = CallMetrics()
        self.store = StoreMetrics()
        self.nodes = NodeMetrics()
        self.rtp = RtpMetrics()
        self.clock = ClockMetrics()
        self.external = ExternalMetrics()
        self.callbacks = CallbackMetrics()
        self.webhook_log = WebhookLogMetrics()
        self.listeners = ListenerMetrics()
        self.consumer_groups = ConsumerGroupMetrics()

    @property
    def families(self) -> Iterator[Counter | Histogram]:
        parts = (
            self.calls,
            self.nodes,
            self.rtp,
            self.store,
            self.clock,
            self.external,
            self.callbacks,
            self.webhook_log,
            self.listeners,
            self.consumer_groups,
        )
        for part in parts:
            yield from vars(part).values()

    def shards(self) -> set[Labels]:
        """Return the nodes and slots whose calls this engine has counted."""
        return self.calls.started.shards()

    def drop_shards(self, shards: AbstractSet[Labels]) -> None:
        """Remove all series of some nodes and slots; a shard that starts creates them again."""
        for family in self.families:
            family.drop_shards(shards)


LOSS_BUCKETS = (0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5)
JITTER_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
MOS_BUCKETS = (1.5, 2.0, 2.6, 3.1, 3.6, 4.0, 4.2, 4.3, 4.4)

# The E-model (ITU-T G.107) in the form that is usual for monitoring: G.711 without loss and delay
# has the rating 93.2; a jitter buffer delays by twice the jitter and 10 ms; 1 % lost costs 2.5.
BEST_RATING = 93.2
BUFFER_MS = 10.0
NOTICED_DELAY_MS = 160.0
LOSS_COST = 250.0  # of all packets


class RtpMetrics:
    """Each RTCP report of a leg counts once, in each engine that is connected to the node's AMI."""

    def __init__(self) -> None:
        self.loss = Histogram(
            "switchroom_rtp_loss_ratio",
            "Share of a leg's packets that were lost, per RTCP report",
            "node", bounds=LOSS_BUCKETS,
        )  # fmt: skip
        self.jitter = Histogram(
            "switchroom_rtp_jitter_seconds",
            "Jitter of a leg's packets, per RTCP report",
            "node", bounds=JITTER_BUCKETS_S,
        )  # fmt: skip
        self.mos = Histogram(
            "switchroom_rtp_mos",
            "Estimated mean opinion score of a leg's audio, 1 to 4.4, per RTCP report",
            "node", bounds=MOS_BUCKETS,
        )  # fmt: skip

    def recorder(self, node: str) -> Callable[[float, float], None]:
        """Return what counts a report of a node: the share that was lost, and milliseconds."""
        loss, jitter, mos = (each.series(node) for each in (self.loss, self.jitter, self.mos))

        def record(lost: float, jitter_ms: float) -> None:
            loss.observe(lost)
            jitter.observe(jitter_ms / 1000)
            mos.observe(estimate_mos(lost, jitter_ms))

        return record


def estimate_mos(loss: float, jitter_ms: float) -> float:
    """Return the mean opinion score, without the network's delay, which reports do not have."""
    delay_ms = 2 * jitter_ms + BUFFER_MS
    delay_cost = delay_ms / 40 if delay_ms < NOTICED_DELAY_MS else (delay_ms - 120) / 10
    rating = max(0.0, BEST_RATING - delay_cost - LOSS_COST * loss)
    return max(1.0, 1 + 0.035 * rating + 7e-6 * rating * (rating - 60) * (100 - rating))
