"""Counting for the hot path: plain numbers behind labels, put into a form when somebody looks."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from msgspec import Struct

Labels = tuple[str, ...]
Table = defaultdict[str, int]


class Metadata(Struct, frozen=True):
    """A family's name, what it says, and what its numbers are told apart by."""

    name: str
    help: str
    labels: Labels


class Counter:
    """A family of counters: a table for each of the first labels, in it a number by the last."""

    def __init__(self, name: str, text: str, *labels: str) -> None:
        self.metadata = Metadata(name, text, labels)
        self._tables: dict[Labels, Table] = {}

    def table(self, *first: str | int) -> Table:
        """Give a table to count in; who counts often keeps it."""
        return self._tables.setdefault(tuple(map(str, first)), defaultdict(int))

    def initialize(self, *labels: str | int) -> None:
        """Show a number from the start: of one that appears as 1, no growth would be seen."""
        *first, last = labels
        self.table(*first)[str(last)] += 0

    def __iter__(self) -> Iterator[tuple[Labels, int]]:
        """Give each number with all its labels."""
        for first, table in self._tables.items():
            for last, number in table.items():
                yield (*first, last), number

    @property
    def total(self) -> int:
        """The sum of all."""
        return sum(number for _, number in self)


class Gauge(Counter):
    """A family of gauges, kept like counters."""


class HistogramSeries:
    """How often a value fell between bounds."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count a value; one that is a bound counts below it."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        """How many values there were."""
        return sum(self.counts)


class Histogram:
    """A family of histograms, one for each combination of labels."""

    def __init__(self, name: str, text: str, *labels: str, bounds: tuple[float, ...]) -> None:
        self.metadata = Metadata(name, text, labels)
        self._bounds = bounds
        self._series: dict[Labels, HistogramSeries] = {}

    def series(self, *labels: str | int) -> HistogramSeries:
        """Give a histogram to observe in; who observes often keeps it."""
        key = tuple(map(str, labels))
        found = self._series.get(key)
        if found is None:
            found = self._series[key] = HistogramSeries(self._bounds)
        return found

    def __iter__(self) -> Iterator[tuple[Labels, HistogramSeries]]:
        """Give each histogram with its labels."""
        yield from self._series.items()

    @property
    def count(self) -> int:
        """How many values there were in all."""
        return sum(each.count for each in self._series.values())


# Seconds. From what one request takes inside a machine to what a caller would call dead air.
FAST_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
SLOW_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0)
LATENESS_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)
SIZE_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
NODE_AND_SLOT = ("node", "slot")
