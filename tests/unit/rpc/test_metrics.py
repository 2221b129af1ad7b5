"""The page of an engine with many shards is made in slices."""

import asyncio
import time
from collections.abc import Iterable

from prometheus_client.parser import text_string_to_metric_families

from base.metrics import Counter, CurrentValues, Family, Gauge, Histogram, Metadata, text_of
from engine.observe.metrics import Metrics
from engine.rpc.metrics import KEPT_S, FinishedSeries, MetricsPage
from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.base.context import EngineContext
from engine.runtime.call_service import CallService
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.shard.metrics import ShardMetrics
from tests.harness.memory_store.store import MemoryStore
from tests.harness.runtime.shard_scene import ManualClock

NODES, SLOTS = 50, 4
MAX_STEP_S = 0.05  # of CPU time: a slice takes 0.001, one family in one piece 0.1


def counted() -> Metrics:
    """Return what an engine has counted that owns 200 shards."""
    metrics = Metrics()
    for node in (f"pbx{number}" for number in range(NODES)):
        for slot in range(SLOTS):
            ShardMetrics(metrics, node, slot)
            for transport in ("http", "websocket"):
                metrics.nodes.request_duration.series(node, slot, transport).observe(0.001)
            for outcome in ("answered", "failed", "timeout"):
                metrics.external.webhook_duration.series(node, slot, outcome).observe(0.1)
    return metrics


async def test_other_work_takes_turns() -> None:
    """The loop is never blocked for long, and the page is whole."""
    service = CallService(
        EngineContext(MemoryStore(), ManualClock()), AdmissionConfig(ShardMap(1, ["pbx1"]), 1)
    )
    page = MetricsPage(service, ShardMap(1, ["pbx1"]), counted(), lambda: 0)
    rendering = asyncio.create_task(page.render())
    longest_s, before_s = 0.0, time.thread_time()
    while not rendering.done():
        await asyncio.sleep(0)
        now_s = time.thread_time()
        longest_s, before_s = max(longest_s, now_s - before_s), now_s
    families = {
        each.name: each for each in text_string_to_metric_families(rendering.result().decode())
    }
    assert longest_s < MAX_STEP_S
    counts = [
        each.value
        for each in families["switchroom_ari_request_seconds"].samples
        if each.name.endswith("_count")
    ]
    assert sum(counts) == NODES * SLOTS * 2
    assert "process_open_fds" in families


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


def samples(family: Family) -> tuple[str, str, list[tuple[str, dict[str, str], float]]]:
    """Return a family's kind, help and samples as they are parsed."""
    (parsed,) = text_string_to_metric_families("".join(text_of(family)))
    found = [(each.name, each.labels, each.value) for each in parsed.samples]
    return parsed.type, parsed.documentation, found


def test_a_counter() -> None:
    """Labels keep quotes, backslashes and line ends."""
    family = Counter("switchroom_x_total", "What x is", "node", "reason")
    family.table("pbx1")['a "b" \\ c\n'] += 3
    labels = {"node": "pbx1", "reason": 'a "b" \\ c\n'}
    assert samples(family) == ("counter", "What x is", [("switchroom_x_total", labels, 3)])


def test_gauges() -> None:
    """Those that are set, and those that are read for the page; with labels or without."""
    kept = Gauge("switchroom_x", "x")
    kept.table()[""] = 5
    read = CurrentValues(Metadata("switchroom_y", "y", ("slot",)), ((("3",), 0.25), (("4",), True)))
    assert samples(kept) == ("gauge", "x", [("switchroom_x", {}, 5)])
    expected = [("switchroom_y", {"slot": "3"}, 0.25), ("switchroom_y", {"slot": "4"}, 1)]
    assert samples(read) == ("gauge", "y", expected)


def test_a_histogram() -> None:
    """Its buckets are cumulative."""
    family = Histogram("switchroom_x_seconds", "x", "slot", bounds=(0.1, 1.0))
    for value in (0.05, 0.5, 7.0):
        family.series(3).observe(value)
    kind, _, found = samples(family)
    numbers = {(name.rpartition("_")[2], labels.get("le")): value for name, labels, value in found}
    assert kind == "histogram"
    assert all(labels["slot"] == "3" for _, labels, _ in found)
    assert numbers == {
        ("bucket", "0.1"): 1,
        ("bucket", "1.0"): 2,
        ("bucket", "+Inf"): 3,
        ("count", None): 3,
        ("sum", None): 7.55,
    }


def test_a_family_that_grows_meanwhile() -> None:
    """The page shows what there was when it reached the family."""
    family = Counter("switchroom_x_total", "x", "node", "slot")
    for node in ("pbx1", "pbx2"):
        family.initialize(node, 0)
    text = ""
    for lines in growing(family, text_of(family)):
        text += lines
    assert text.count("pbx") == 2


def growing(family: Counter, lines: Iterable[str]) -> Iterable[str]:
    """Return the lines, with another series made at each."""
    for number, line in enumerate(lines):
        family.initialize(f"another{number}", 0)
        yield line
