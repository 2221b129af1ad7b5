"""The page of an engine with many shards is made in slices."""

import asyncio
import time

from prometheus_client.parser import text_string_to_metric_families

from engine.observe.metrics import Metrics
from engine.rpc.metrics.page import MetricsPage
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
