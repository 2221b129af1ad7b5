"""The Prometheus text format, written series by series, so that a page can be made in slices."""

from collections.abc import Iterator

from msgspec import Struct
from prometheus_client.utils import floatToGoString

from base.metric_types import (
    Counter,
    Gauge,
    Histogram,
    HistogramSeries,
    Labels,
    Metadata,
)

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class CurrentValues(Struct, frozen=True):
    """A family of gauges that are read when the page is made."""

    metadata: Metadata
    values: tuple[tuple[Labels, float], ...]


Family = Counter | Histogram | CurrentValues


def text_of(family: Family) -> Iterator[str]:
    """Return a family's lines, the header first; other code may change the family meanwhile."""
    about = family.metadata
    if isinstance(family, Histogram):
        yield _header(about, "histogram")
        for labels, series in tuple(family):
            yield _histogram(about.name, _labels(about.labels, labels), series)
        return
    is_gauge = isinstance(family, Gauge | CurrentValues)
    yield _header(about, "gauge" if is_gauge else "counter")
    values = family.values if isinstance(family, CurrentValues) else tuple(family)
    for labels, number in values:
        yield _line(about.name, _labels(about.labels, labels), float(number))


def _header(about: Metadata, kind: str) -> str:
    return f"# HELP {about.name} {about.help}\n# TYPE {about.name} {kind}\n"


def _labels(names: Labels, values: Labels) -> str:
    # A family without labels keeps its number under an empty one.
    pairs = zip(names, values, strict=False)
    return ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in pairs)


def _line(name: str, labels: str, value: float) -> str:
    return f"{name}{{{labels}}} {value}\n" if labels else f"{name} {value}\n"


def _histogram(name: str, labels: str, series: HistogramSeries) -> str:
    """Return the lines of a series: each upper bound with its cumulative count, and the sums."""
    before = f"{labels}," if labels else ""
    bounds = (*map(floatToGoString, series.bounds), "+Inf")
    cumulative, lines = 0, []
    for bound, count in zip(bounds, series.counts, strict=True):
        cumulative += count
        lines.append(f'{name}_bucket{{{before}le="{bound}"}} {float(cumulative)}\n')
    lines.append(_line(f"{name}_count", labels, float(cumulative)))
    lines.append(_line(f"{name}_sum", labels, series.total))
    return "".join(lines)
