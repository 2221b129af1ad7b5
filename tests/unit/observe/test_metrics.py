"""Counters and histograms."""

import pytest

from base.metrics import Counter, Histogram
from engine.observe.metrics import Metrics, RtpMetrics, estimate_mos


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


@pytest.mark.parametrize(
    ("loss", "jitter_ms", "mos"),
    [(0.0, 0.0, 4.4), (0.0, 20.0, 4.38), (0.01, 5.0, 4.33), (0.05, 30.0, 3.98), (0.2, 100.0, 1.79)],
)
def test_mos_of_loss_and_jitter(loss: float, jitter_ms: float, mos: float) -> None:
    """G.711 has 4.4 at best; 5 % of loss are noticed, 20 % make it useless."""
    assert estimate_mos(loss, jitter_ms) == pytest.approx(mos, abs=0.02)


def test_mos_is_within_its_scale() -> None:
    """Never below 1, however bad the audio is."""
    assert estimate_mos(1.0, 5_000.0) == 1.0
    falling = [estimate_mos(percent / 100, 10.0) for percent in range(40)]
    assert falling == sorted(falling, reverse=True)


def test_each_report_counts_for_its_node() -> None:
    """In seconds and shares."""
    metrics = RtpMetrics()
    record = metrics.recorder("pbx1")
    record(0.0, 4.0)
    record(0.06, 40.0)
    metrics.recorder("pbx2")
    assert {labels: each.count for labels, each in metrics.mos} == {("pbx1",): 2, ("pbx2",): 0}
    assert dict(metrics.jitter)[("pbx1",)].total == pytest.approx(0.044)
    assert dict(metrics.loss)[("pbx1",)].counts[0] == 1
