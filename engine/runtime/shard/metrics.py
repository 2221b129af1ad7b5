"""The metrics of one shard's calls."""

import structlog

from engine.calls.model.call import Call
from engine.calls.reporting.failed_recordings import failed_recordings
from engine.observe.metrics import Metrics

log = structlog.get_logger()
DIRECTIONS = ("inbound", "outbound")


class ShardMetrics:
    """Counters of one (node, slot), looked up once."""

    def __init__(self, metrics: Metrics, node: str, slot: int) -> None:
        calls, nodes = metrics.calls, metrics.nodes
        self._started = calls.started.table(node, slot)
        self._ended = {each: calls.ended.table(node, slot, each) for each in DIRECTIONS}
        self._dropped, self._slot = calls.dropped.table(node), str(slot)
        self._failed_recordings = calls.failed_recordings.table(node)
        self._late = calls.timer_lateness.series(node, slot)
        rare_counters = (
            calls.dropped,
            calls.lost,
            calls.taken_over,
            nodes.disconnects,
            nodes.recovery_failures,
        )
        for rare in rare_counters:
            rare.initialize(node, slot)
        nodes.orphans_removed.initialize(node)
        for failure in ("lost", "cut"):
            calls.failed_recordings.initialize(node, failure)

    def call_started(self, call: Call) -> None:
        self._started[call.direction] += 1

    def call_ended(self, call: Call) -> None:
        """Count a call that ended, or that an internal error ended."""
        if call.is_ended:
            self._ended[call.direction][call.status] += 1
            for failure in failed_recordings(call):
                self._failed_recordings[failure] += 1
                log.warning("recording failed", call_id=call.id, reason=failure)
        else:
            self._dropped[self._slot] += 1

    def timer_fired(self, late_ms: int) -> None:
        # The clock has whole milliseconds: a punctual timer may seem early.
        self._late.observe(max(0, late_ms) / 1000)
