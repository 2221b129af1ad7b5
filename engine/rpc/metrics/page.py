"""/metrics: what the meter has counted, and how things stand at this moment."""

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
    """All metrics of an engine, collected when they are asked for."""

    def __init__(
        self, switch: CallService, slot_count: int, meter: Metrics, making: Callable[[], int]
    ) -> None:
        self._switch = switch
        self._making = making
        self._slot_count = slot_count
        self._meter = meter

    def collect(self) -> Iterator[Metric]:
        """Give every family."""
        yield _build()
        yield from call_gauges(self._switch)
        yield from shard_gauges(self._switch)
        yield from node_gauges(self._switch)
        yield from slot_gauges(self._switch, self._slot_count)
        yield from limit_gauges(self._switch)
        making = gauge(
            "switchroom_media_in_progress", "Clips that are being made, or wait for that"
        )
        making.add_metric([], self._making())
        yield making
        for family in self._meter.families:
            yield _shown(family)


class _Only(Collector):
    def __init__(self, family: Metric) -> None:
        self._family = family

    def collect(self) -> Iterator[Metric]:
        yield self._family


def registry_of(page: MetricsPage) -> CollectorRegistry:
    """Put an engine's metrics together with those of its process."""
    registry = CollectorRegistry()
    registry.register(page)
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


def metrics_routes(page: MetricsPage) -> list[web.RouteDef]:
    """Answer /metrics, without a token: it tells nothing of any one call."""
    registry = registry_of(page)

    async def metrics(_request: web.Request) -> web.Response:
        page = bytearray()
        for family in registry.collect():
            page += generate_latest(_Only(family))
            await asyncio.sleep(0)  # the whole page takes 10 ms: calls go first
        return web.Response(body=bytes(page), headers={"Content-Type": CONTENT_TYPE_LATEST})

    return [web.get("/metrics", metrics)]


def _build() -> Metric:
    build = gauge("switchroom_build_info", "Which engine this is; always 1", "version", "python")
    build.add_metric([version("switchroom"), platform.python_version()], 1)
    return build


def _shown(family: Counter | Histogram) -> Metric:
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
    """Give the bounds, each with how many values were no larger."""
    names = [*map(floatToGoString, histogram.bounds), "+Inf"]
    below, found = 0, []
    for name, count in zip(names, histogram.counts, strict=True):
        below += count
        found.append((name, float(below)))
    return found
