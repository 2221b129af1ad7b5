"""The /metrics page: counted metrics and current gauges."""

import asyncio
import platform
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version

from aiohttp import web
from msgspec import Struct
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector

from base.metrics import CurrentValues, Family, Labels, text_of
from engine.observe.metrics import Metrics
from engine.rpc.metrics.finished_series import FinishedSeries
from engine.rpc.metrics.gauges import (
    call_gauges,
    gauge,
    limit_gauges,
    node_gauges,
    shard_gauges,
    store_gauges,
)
from engine.runtime.call_service import CallService
from engine.runtime.cluster.shard_map import ShardMap

SLICE_S = 0.001  # then live calls take their turn


class MetricsPage(Struct, frozen=True):
    """All metrics of an engine, read per scrape."""

    service: CallService
    shards: ShardMap
    metrics: Metrics
    clips_in_progress: Callable[[], int]

    def families(self) -> Iterator[Family]:
        """Return the families; each is read when it is reached."""
        yield _build()
        yield from call_gauges(self.service)
        yield from shard_gauges(self.service)
        yield from node_gauges(self.service)
        yield from store_gauges(self.service, self.shards)
        yield from limit_gauges(self.service)
        text = "Clips in production or waiting for it"
        yield gauge("switchroom_media_in_progress", text, (), {(): self.clips_in_progress()})
        yield from self.metrics.families

    async def render(self) -> bytes:
        """Return the page; in between, the loop does other work."""
        page, lines = bytearray(), list[str]()
        slice_end_s = time.perf_counter() + SLICE_S
        for family in self.families():
            for text in text_of(family):
                lines.append(text)
                if time.perf_counter() > slice_end_s:
                    page += "".join(lines).encode()
                    lines.clear()
                    await asyncio.sleep(0)
                    slice_end_s = time.perf_counter() + SLICE_S
        page += "".join(lines).encode()
        await asyncio.sleep(0)
        return bytes(page + _process_metrics())

    def held_shards(self) -> set[Labels]:
        """Return the node and slot of each shard."""
        nodes = self.service.nodes.values()
        return {(node.name, str(slot)) for node in nodes for slot in node.shards}


def metrics_routes(page: MetricsPage) -> list[web.RouteDef]:
    """Return the /metrics route; it needs no token and shows no call data."""
    finished = FinishedSeries(page.metrics, time.monotonic)

    async def metrics(_request: web.Request) -> web.Response:
        finished.drop(page.held_shards())
        return web.Response(body=await page.render(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    return [web.get("/metrics", metrics)]


def _process_metrics() -> bytes:
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    return generate_latest(registry)


def _build() -> CurrentValues:
    values = {(version("switchroom"), platform.python_version()): 1}
    text = "Version of this engine; always 1"
    return gauge("switchroom_build_info", text, ("version", "python"), values)
