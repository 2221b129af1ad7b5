"""The /metrics page of a gateway."""

import platform
from importlib.metadata import version

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector

from base.metric_types import Labels, Metadata
from base.metrics_text import CurrentValues, Family, text_of
from streams.stream.metrics import StreamMetrics


def metrics_page(metrics: StreamMetrics, streams: int, engines: int) -> bytes:
    """Return the page."""
    build = (version("switchroom"), platform.python_version())
    families: list[Family] = [
        _gauge(
            "switchroom_streams_build_info",
            "Version of this gateway; always 1",
            ("version", "python"),
            build,
            1,
        ),
        _gauge("switchroom_streams", "Live streams", (), (), streams),
        _gauge("switchroom_streams_engines", "Engines that read the reports", (), (), engines),
        *metrics.families,
    ]
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    text = "".join(line for family in families for line in text_of(family))
    return text.encode() + generate_latest(registry)


def _gauge(name: str, text: str, labels: Labels, values: Labels, number: float) -> CurrentValues:
    return CurrentValues(Metadata(name, text, labels), ((values, number),))
