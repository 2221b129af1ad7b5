"""All that an engine counts; `rpc.metrics` shows it, docs/operations/metrics.md tells what it says.

One meter an engine, handed to whoever measures. One that nobody looks at is only a few numbers.
"""

from collections.abc import Iterator

from engine.observe.engine_metrics import CallMetrics, NodeMetrics, StoreMetrics
from engine.observe.external_metrics import CallbackMetrics, ConsumerGroupMetrics, ExternalMetrics
from engine.observe.metric_types import Counter, Histogram


class Metrics:
    """The families, by what they are about."""

    def __init__(self) -> None:
        self.calls = CallMetrics()
        self.store = StoreMetrics()
        self.nodes = NodeMetrics()
        self.external = ExternalMetrics()
        self.callbacks = CallbackMetrics()
        self.consumer_groups = ConsumerGroupMetrics()

    @property
    def families(self) -> Iterator[Counter | Histogram]:
        """All families, in order."""
        parts = (
            self.calls,
            self.nodes,
            self.store,
            self.external,
            self.callbacks,
            self.consumer_groups,
        )
        for part in parts:
            yield from vars(part).values()
