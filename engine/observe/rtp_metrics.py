"""The quality of calls' audio, as RTCP reports it: loss, jitter, and an estimated opinion score."""

from collections.abc import Callable

from base.metrics import Histogram

LOSS_BUCKETS = (0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5)
JITTER_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
MOS_BUCKETS = (1.5, 2.0, 2.6, 3.1, 3.6, 4.0, 4.2, 4.3, 4.4)

# The E-model (ITU-T G.107) in the form that is usual for monitoring: G.711 without loss and delay
# has the rating 93.2; a jitter buffer delays by twice the jitter and 10 ms; 1 % lost costs 2.5.
BEST_RATING = 93.2
BUFFER_MS = 10.0
NOTICED_DELAY_MS = 160.0
LOSS_COST = 250.0  # of all packets


class RtpMetrics:
    """Each RTCP report of a leg counts once, in each engine that is connected to the node's AMI."""

    def __init__(self) -> None:
        self.loss = Histogram(
            "switchroom_rtp_loss_ratio",
            "Share of a leg's packets that were lost, per RTCP report",
            "node", bounds=LOSS_BUCKETS,
        )  # fmt: skip
        self.jitter = Histogram(
            "switchroom_rtp_jitter_seconds",
            "Jitter of a leg's packets, per RTCP report",
            "node", bounds=JITTER_BUCKETS_S,
        )  # fmt: skip
        self.mos = Histogram(
            "switchroom_rtp_mos",
            "Estimated mean opinion score of a leg's audio, 1 to 4.4, per RTCP report",
            "node", bounds=MOS_BUCKETS,
        )  # fmt: skip

    def recorder(self, node: str) -> Callable[[float, float], None]:
        """Return what counts a report of a node: the share that was lost, and milliseconds."""
        loss, jitter, mos = (each.series(node) for each in (self.loss, self.jitter, self.mos))

        def record(lost: float, jitter_ms: float) -> None:
            loss.observe(lost)
            jitter.observe(jitter_ms / 1000)
            mos.observe(estimate_mos(lost, jitter_ms))

        return record


def estimate_mos(loss: float, jitter_ms: float) -> float:
    """Return the mean opinion score, without the network's delay, which reports do not have."""
    delay_ms = 2 * jitter_ms + BUFFER_MS
    delay_cost = delay_ms / 40 if delay_ms < NOTICED_DELAY_MS else (delay_ms - 120) / 10
    rating = max(0.0, BEST_RATING - delay_cost - LOSS_COST * loss)
    return max(1.0, 1 + 0.035 * rating + 7e-6 * rating * (rating - 60) * (100 - rating))
