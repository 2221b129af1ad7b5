"""Metrics as plain numbers by label, and the Prometheus text format that a scrape gets."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from msgspec import Struct
from prometheus_client.utils import floatToGoString

Labels = tuple[str, ...]
Table = defaultdict[str, int]


class Metadata(Struct, frozen=True):
    """A family's name, help text and labels."""

    name: str
    help: str
    labels: Labels


class Counter:
    """A family of counters: a table for each of the first labels, with a number by the last."""

    def __init__(self, name: str, text: str, *labels: str) -> None:
        self.metadata = Metadata(name, text, labels)
        self._tables: dict[Labels, Table] = {}

    def table(self, *first: str | int) -> Table:
        """Return the table of the first labels; frequent users keep it."""
        return self._tables.setdefault(tuple(map(str, first)), defaultdict(int))

    def initialize(self, *labels: str | int) -> None:
        """Publish a counter as 0: otherwise its first increase is invisible."""
        *first, last = labels
        self.table(*first)[str(last)] += 0

    def __iter__(self) -> Iterator[tuple[Labels, int]]:
        for first, table in self._tables.items():
            for last, number in table.items():
                yield (*first, last), number

    def shards(self) -> set[Labels]:
        """Return the first two labels of all tables: the shards of a family by node and slot."""
        return {first[:2] for first in self._tables if len(first) > 1}

    def drop_shards(self, shards: AbstractSet[Labels]) -> None:
        """Remove the numbers of some nodes and slots, if those are the first two labels."""
        if self.metadata.labels[:2] != NODE_AND_SLOT:
            return
        for first, table in tuple(self._tables.items()):
            if first[:2] in shards:
                del self._tables[first]
            elif len(first) == 1:
                for slot in [each for each in table if (*first, each) in shards]:
                    del table[slot]

    @property
    def total(self) -> int:
        return sum(number for _, number in self)


class Gauge(Counter):
    """A family of gauges, stored like counters."""


class HistogramSeries:
    """Counts of values between bucket bounds."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count a value; a value equal to a bound counts below it."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        return sum(self.counts)


class Histogram:
    """A family of histograms: a series for each combination of labels."""

    def __init__(self, name: str, text: str, *labels: str, bounds: tuple[float, ...]) -> None:
        self.metadata = Metadata(name, text, labels)
        self._bounds = bounds
        self._series: dict[Labels, HistogramSeries] = {}

    def series(self, *labels: str | int) -> HistogramSeries:
        """Return the series of some labels; frequent users keep it."""
        key = tuple(map(str, labels))
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = HistogramSeries(self._bounds)
        return series

    def drop_shards(self, shards: AbstractSet[Labels]) -> None:
        """Remove the series of some nodes and slots, if those are the first two labels."""
        if self.metadata.labels[:2] == NODE_AND_SLOT:
            for labels in [each for each in self._series if each[:2] in shards]:
                del self._series[labels]

    def __iter__(self) -> Iterator[tuple[Labels, HistogramSeries]]:
        yield from self._series.items()

    @property
    def count(self) -> int:
        return sum(each.count for each in self._series.values())


# Seconds: from a request inside one machine to silence that a caller notices.
FAST_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
SLOW_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0)
LATENESS_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)
SIZE_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
NODE_AND_SLOT = ("node", "slot")


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
