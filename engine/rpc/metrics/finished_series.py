"""Drops the series of shards that this engine does not own any more."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet

from base.metrics import Labels
from engine.observe.metrics import Metrics

KEPT_S = 600.0


class FinishedSeries:
    """Remembers when each (node, slot) was last held, and drops its series ten minutes later.

    Until then its last counts are scraped, and a slot that comes back continues them. Later it
    starts at 0 as in a new engine: Prometheus takes a counter that is lower than before for one
    that was reset, so rates and increases contain what was counted since, and nothing twice.
    """

    def __init__(self, metrics: Metrics, monotonic: Callable[[], float]) -> None:
        self._metrics = metrics
        self._monotonic = monotonic
        self._last_held_s: dict[Labels, float] = {}

    def drop(self, held: AbstractSet[Labels]) -> None:
        """Drop what is finished, given the pairs that are held now."""
        now_s = self._monotonic()
        for pair in self._metrics.shards() | held:
            if pair in held:
                self._last_held_s[pair] = now_s
            else:
                self._last_held_s.setdefault(pair, now_s)
        finished = {pair for pair, at_s in self._last_held_s.items() if now_s - at_s > KEPT_S}
        if finished:
            self._metrics.drop_shards(finished)
            for pair in finished:
                del self._last_held_s[pair]
