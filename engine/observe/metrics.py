"""All that an engine counts; `rpc.metrics` shows it, docs/operations/metrics.md tells what it says.

One meter an engine, handed to whoever measures. One that nobody looks at is only a few numbers.
"""

from collections.abc import Iterator

from engine.observe.engine_metrics import Calls, Nodes, Store
from engine.observe.external_metrics import Callbacks, Outside, Readers
from engine.observe.metric_types import Counts, Histograms


class Meter:
    """The families, by what they are about."""

    def __init__(self) -> None:
        self.calls = Calls()
        self.store = Store()
        self.nodes = Nodes()
        self.outside = Outside()
        self.callbacks = Callbacks()
        self.readers = Readers()

    @property
    def families(self) -> Iterator[Counts | Histograms]:
        """All families, in order."""
        parts = (self.calls, self.nodes, self.store, self.outside, self.callbacks, self.readers)
        for part in parts:
            yield from vars(part).values()
