"""Counters and histograms."""

from base.metrics import Counter, Histogram
from engine.observe.metrics import Metrics


def test_counts_by_labels() -> None:
    """A table counts by its last label; each call returns the same one."""
    counts = Counter("switchroom_x_total", "x", "node", "slot", "type")
    counts.table("pbx1", 0)["Dial"] += 2
    counts.table("pbx1", "0")["Dial"] += 1
    counts.table("pbx2", 3)["Hangup"] += 1
    assert dict(counts) == {("pbx1", "0", "Dial"): 3, ("pbx2", "3", "Hangup"): 1}
    assert counts.total == 4


def test_a_histogram_counts_a_bound_below_it() -> None:
    """A value equal to a bound counts below it; one above all bounds in the last bucket."""
    times = Histogram("switchroom_x_seconds", "x", "slot", bounds=(0.1, 1.0))
    for value in (0.05, 0.1, 0.5, 7.0):
        times.series(3).observe(value)
    assert times.series("3").counts == [2, 1, 1]
    assert times.series("3").total == 7.65
    assert times.count == 4


def test_every_family_has_a_name_of_its_own_with_its_unit_last() -> None:
    """Names start with the product's and end with the unit; they are unique."""
    names = [family.metadata.name for family in Metrics().families]
    assert len(set(names)) == len(names)
    for name in names:
        assert name.startswith("switchroom_")
        assert name.endswith(
            (
                *("_total", "_seconds", "_changes", "_events", "_circuits", "_calls", "_listeners"),
                *("_ratio", "_mos"),  # of audio: a share, and a score from 1 to 4.4
            )
        )
