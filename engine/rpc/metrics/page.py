"""The /metrics page: counted metrics and current gauges."""

import asyncio
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import version

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
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
from engine.runtime.service import CallService


class MetricsPage(Collector):
    """All metrics of an engine, collected per scrape."""

    def __init__(
        self, service: CallService, slot_count: int, meter: Metrics, making: Callable[[], int]
    ) -> None:
        self._service = service
        self._making = making
        self._slot_count = slot_count
        self._meter = meter

    def collect(self) -> Iterator[Metric]:
        yield _build()
        yield from call_gauges(self._service)
        yield from shard_gauges(self._service)
        yield from node_gauges(self._service)
        yield from slot_gauges(self._service, self._slot_count)
        yield from limit_gauges(self._service)
        making = gauge("switchroom_media_in_progress", "Clips in production or waiting for it")
        making.add_metric([], self._making())
        yield making
        for family in self._meter.families:
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
    build = gauge("switchroom_build_info", "Version of this engine; always 1", "version", "python")
    build.add_metric([version("switchroom"), platform.python_version()], 1)
    return build


def _prometheus_metric(family: Counter | Histogram) -> Metric:
    match family:
        case Gauge():
            return _gauge(family)
        case Counter():
            return _counter(family)
        case Histogram():
            return _histogram(family)


def _gauge(family: Gauge) -> Metric:
    about = family.metadata
    metric = GaugeMetricFamily(about.name, about.help, labels=about.labels)
    for labels, number in family:
        metric.add_metric(labels[: len(about.labels)], number)
    return metric


def _counter(family: Counter) -> Metric:
    about = family.metadata
    counter = CounterMetricFamily(about.name, about.help, labels=about.labels)
    for labels, number in family:
        counter.add_metric(labels, number)
    return counter


def _histogram(family: Histogram) -> Metric:
    about = family.metadata
    metric = HistogramMetricFamily(about.name, about.help, labels=about.labels)
    for labels, histogram in family:
        metric.add_metric(labels, _buckets(histogram), histogram.total)
    return metric


def _buckets(histogram: HistogramSeries) -> list[tuple[str, float]]:
    """Return each upper bound with its cumulative count."""
    names = [*map(floatToGoString, histogram.bounds), "+Inf"]
    cumulative, buckets = 0, []
    for name, count in zip(names, histogram.counts, strict=True):
        cumulative += count
        buckets.append((name, float(cumulative)))
    return buckets
