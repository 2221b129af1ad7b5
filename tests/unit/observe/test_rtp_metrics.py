"""The quality of audio: counted by node, and estimated as a listener would judge it."""

import pytest

from engine.observe.rtp_metrics import RtpMetrics, estimate_mos


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
