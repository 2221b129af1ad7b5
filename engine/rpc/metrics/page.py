"""The /metrics page: counted metrics and current gauges."""

import asyncio
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from engine.observe.metric_types import Counter, Gauge, Histogram, HistogramSeries
from engine.observe.metrics import Metrics
from engine.rpc.metrics.gauges import (
    call_gauges,
    gauge,
    limit_gauges,
    node_gauges,
    shard_gauges,
    slot_gauges,
)
from engine.runtime.call_service import CallService


@dataclass(eq=False)
class MetricsPage(Collector):
    """All metrics of an engine, collected per scrape."""

    service: CallService
    slot_count: int
    metrics: Metrics
    clips_in_progress: Callable[[], int]

    def collect(self) -> Iterator[Metric]:
        yield _build()
        yield from call_gauges(self.service)
        yield from shard_gauges(self.service)
        yield from node_gauges(self.service)
        yield from slot_gauges(self.service, self.slot_count)
        yield from limit_gauges(self.service)
        text = "Clips in production or waiting for it"
        yield gauge("switchroom_media_in_progress", text, (), {(): self.clips_in_progress()})
        for family in self.metrics.families:
            yield _prometheus_metric(family)


class _SingleFamily(Collector):
    def __init__(self, family: Metric) -> None:
        self._family = family

    def collect(self) -> Iterator[Metric]:
        yield self._family


def registry_of(page: MetricsPage) -> CollectorRegistry:
    """Register an engine's metrics with those of its process."""
    registry = CollectorRegistry()
    registry.register(page)
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


def metrics_routes(page: MetricsPage) -> list[web.RouteDef]:
    """Return the /metrics route; it needs no token and shows no call data."""
    registry = registry_of(page)

    async def metrics(_request: web.Request) -> web.Response:
        page = bytearray()
        for family in registry.collect():
            page += generate_latest(_SingleFamily(family))
            await asyncio.sleep(0)  # the whole page takes 10 ms: live calls take turns
        return web.Response(body=bytes(page), headers={"Content-Type": CONTENT_TYPE_LATEST})

    return [web.get("/metrics", metrics)]


def _build() -> Metric:
    values = {(version("switchroom"), platform.python_version()): 1}
    text = "Version of this engine; always 1"
    return gauge("switchroom_build_info", text, ("version", "python"), values)


def _prometheus_metric(family: Counter | Histogram) -> Metric:
    about = family.metadata
    if isinstance(family, Histogram):
        histogram = HistogramMetricFamily(about.name, about.help, labels=about.labels)
        for labels, series in family:
            histogram.add_metric(labels, _buckets(series), series.total)
        return histogram
    if isinstance(family, Gauge):
        values = {labels[: len(about.labels)]: number for labels, number in family}
        return gauge(about.name, about.help, about.labels, values)
    counter = CounterMetricFamily(about.name, about.help, labels=about.labels)
    for labels, number in family:
        counter.add_metric(labels, number)
    return counter


def _buckets(histogram: HistogramSeries) -> list[tuple[str, float]]:
    """Return each upper bound with its cumulative count."""
    names = [*map(floatToGoString, histogram.bounds), "+Inf"]
    cumulative, buckets = 0, []
    for name, count in zip(names, histogram.counts, strict=True):
        cumulative += count
        buckets.append((name, float(cumulative)))
    return buckets
