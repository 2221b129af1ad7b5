"""All metrics of an engine; docs/operations/metrics.md explains them."""

from collections.abc import Iterator

from engine.observe.engine_metrics import CallMetrics, NodeMetrics, StoreMetrics
from engine.observe.external_metrics import CallbackMetrics, ConsumerGroupMetrics, ExternalMetrics
from engine.observe.metric_types import Counter, Histogram


class Metrics:
    """The families, by subject; one instance for each engine."""

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
