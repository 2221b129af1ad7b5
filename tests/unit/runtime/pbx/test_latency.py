"""Latency of a node's replies: average, metrics and failures."""

from engine.ari.generated.operations import channels
from engine.ari.request import Reply
from engine.observe.metrics import Metrics
from engine.runtime.pbx.wrappers import LatencyAverage, TimedPbx
from tests.harness.runtime.recording_pbx import LOST, OK, RecordingPbx

REQUEST = channels.answer("l1")


class TimedPbxScene:
    """A timed PBX, with time moved by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.meter = Metrics()
        self.latency = LatencyAverage(lambda: self.now_s)
        self.pbx = RecordingPbx()
        self.timed = TimedPbx(self.pbx, self.latency, self.meter, "pbx1", 3)

    def request(self, took_s: float, reply: Reply = OK, *, may_block: bool = False) -> None:
        """Send a request that is answered after a time."""
        replies: list[Reply] = []
        self.timed.send(REQUEST, "call", may_block, replies.append)
        self.now_s += took_s
        self.pbx.reply(reply)
        assert replies == [reply]

    def count(self, connection: str) -> int:
        """Count the measured replies of a connection."""
        return self.meter.nodes.request_duration.series("pbx1", 3, connection).count


def test_the_average_follows_replies_and_decays() -> None:
    """It follows the latest replies, and halves with each second without a reply."""
    scene = TimedPbxScene()
    for _ in range(100):
        scene.request(0.2)
    assert 190 < scene.latency.average_ms <= 200
    scene.now_s += 1
    assert 95 < scene.latency.average_ms <= 100
    assert scene.count("websocket") == 100


def test_blocking_requests_are_measured_separately() -> None:
    """A request that may wait inside Asterisk does not count for the latency."""
    scene = TimedPbxScene()
    scene.request(9.0, may_block=True)
    assert scene.latency.average_ms == 0
    assert (scene.count("http"), scene.count("websocket")) == (1, 0)


def test_failures_are_counted_by_status() -> None:
    """A missing reply counts as lost."""
    scene = TimedPbxScene()
    for reply in (OK, LOST, Reply(404), Reply(404), Reply(500)):
        scene.request(0.001, reply)
    assert dict(scene.meter.nodes.request_failures) == {
        ("pbx1", "3", "lost"): 1,
        ("pbx1", "3", "404"): 2,
        ("pbx1", "3", "500"): 1,
    }
