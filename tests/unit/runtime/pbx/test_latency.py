"""How a node's answers are timed, and what is concluded from that."""

from engine.ari.generated.operations import channels
from engine.ari.request import Reply
from engine.observe.metrics import Metrics
from engine.runtime.pbx.latency import LatencyAverage, TimedPbx
from tests.unit.runtime.harness.recording_pbx import LOST, OK, RecordingPbx

REQUEST = channels.answer("l1")


class TimedPbxBench:
    """A timed node, with time moved by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.meter = Metrics()
        self.latency = LatencyAverage(lambda: self.now_s)
        self.pbx = RecordingPbx()
        self.timed = TimedPbx(self.pbx, self.latency, self.meter, "pbx1", 3)

    def request(self, took_s: float, reply: Reply = OK, *, may_block: bool = False) -> None:
        """Ask something that is answered after a time."""
        replies: list[Reply] = []
        self.timed.send(REQUEST, "call", may_block, replies.append)
        self.now_s += took_s
        self.pbx.reply(reply)
        assert replies == [reply]

    def count(self, lane: str) -> int:
        """Tell how many answers of a lane were timed."""
        return self.meter.nodes.request_duration.series("pbx1", 3, lane).count


def test_slow_answers_strain_and_quiet_relieves() -> None:
    """The level follows the answers of late, and halves with each second without one."""
    scene = TimedPbxBench()
    for _ in range(100):
        scene.request(0.2)
    assert 190 < scene.latency.average_ms <= 200
    scene.now_s += 1
    assert 95 < scene.latency.average_ms <= 100
    assert scene.count("websocket") == 100


def test_what_may_block_is_timed_apart() -> None:
    """A request that may wait inside Asterisk says nothing of its strain."""
    scene = TimedPbxBench()
    scene.request(9.0, may_block=True)
    assert scene.latency.average_ms == 0
    assert (scene.count("http"), scene.count("websocket")) == (1, 0)


def test_what_was_not_done_is_counted_by_status() -> None:
    """No answer counts as lost."""
    scene = TimedPbxBench()
    for reply in (OK, LOST, Reply(404), Reply(404), Reply(500)):
        scene.request(0.001, reply)
    assert dict(scene.meter.nodes.request_failures) == {
        ("pbx1", "3", "lost"): 1,
        ("pbx1", "3", "404"): 2,
        ("pbx1", "3", "500"): 1,
    }
