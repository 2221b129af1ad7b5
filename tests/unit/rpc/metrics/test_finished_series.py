"""Series of shards that have moved to other engines."""

from engine.observe.metrics import Metrics
from engine.rpc.metrics.finished_series import KEPT_S, FinishedSeries
from engine.runtime.shard.metrics import ShardMetrics

KEPT, MOVED = ("pbx1", "0"), ("pbx2", "1")


class Scene:
    """An engine that has owned two shards, and the clock of its page."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self.metrics = Metrics()
        self.finished = FinishedSeries(self.metrics, lambda: self.now_s)
        for node, slot in (KEPT, MOVED):
            self.own(node, slot)

    def own(self, node: str, slot: str) -> None:
        """Count as a shard does, in families of every shape."""
        ShardMetrics(self.metrics, node, int(slot))
        self.metrics.calls.ended.table(node, slot, "inbound")["completed"] += 1
        self.metrics.nodes.events.table(node, slot)["StasisStart"] += 1
        self.metrics.nodes.request_duration.series(node, slot, "http").observe(0.1)
        self.metrics.calls.lost.table(node)[slot] += 1

    def shards(self) -> set[tuple[str, ...]]:
        """Return the node and slot of every series that has them."""
        return {
            labels[:2]
            for family in self.metrics.families
            if family.metadata.labels[:2] == ("node", "slot")
            for labels, _ in family
        }


def test_series_are_dropped_when_they_have_been_read() -> None:
    """A shard that is not held for ten minutes leaves nothing in any family."""
    scene = Scene()
    scene.finished.drop({KEPT, MOVED})
    scene.now_s += KEPT_S
    scene.finished.drop({KEPT})
    assert scene.shards() == {KEPT, MOVED}
    scene.now_s += 1
    scene.finished.drop({KEPT})
    assert scene.shards() == {KEPT}
    assert scene.metrics.nodes.orphans_removed.total == 0


def test_a_shard_that_comes_back_soon_keeps_its_counts() -> None:
    """Its counters continue, so no rate misses what was counted before."""
    scene = Scene()
    scene.finished.drop({KEPT, MOVED})
    scene.now_s += KEPT_S - 1
    scene.finished.drop({KEPT})
    scene.own(*MOVED)
    scene.now_s += 2
    scene.finished.drop({KEPT, MOVED})
    assert scene.metrics.calls.lost.table("pbx2")["1"] == 2


def test_a_shard_that_comes_back_late_starts_at_zero() -> None:
    """As in a new engine: Prometheus counts a lower counter as reset."""
    scene = Scene()
    scene.finished.drop({KEPT})
    scene.now_s += KEPT_S + 1
    scene.finished.drop({KEPT})
    scene.own(*MOVED)
    scene.finished.drop({KEPT, MOVED})
    assert scene.metrics.calls.lost.table("pbx2")["1"] == 1


def test_a_shard_that_was_never_held_at_a_scrape() -> None:
    """What was counted between two scrapes is shown, and dropped as well."""
    scene = Scene()
    scene.finished.drop(set())
    assert scene.shards() == {KEPT, MOVED}
    scene.now_s += KEPT_S + 1
    scene.finished.drop(set())
    assert scene.shards() == set()
