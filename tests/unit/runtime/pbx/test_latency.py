"""Latency of a node's replies: average, metrics and failures."""

from typing import cast

import pytest

from engine.ari.generated.operations import channels
from engine.ari.request import Reply
from engine.observe.metrics import Metrics
from engine.observe.telemetry import Traces
from engine.runtime.cluster.lease import Lease
from engine.runtime.pbx.wrappers import FencedPbx, LatencyAverage, TimedPbx, TracedPbx
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


class NotingTraces:
    """Notes the spans of requests."""

    def __init__(self) -> None:
        self.notes: list[object] = []

    def start_client_span(self, name: str, call_id: str) -> "NotingSpan":
        """Start a span."""
        self.notes.append((name, call_id))
        return NotingSpan(self.notes)


class NotingSpan:
    """Notes its attributes and its end."""

    def __init__(self, notes: list[object]) -> None:
        self._notes = notes

    def set_attribute(self, name: str, value: str | int) -> None:
        """Note an attribute."""
        self._notes.append((name, value))

    def end(self, error: str = "") -> None:
        """Note the end."""
        self._notes.append(error)


@pytest.mark.parametrize(
    ("key", "reply", "notes"),
    [
        ("0-pbx1-abcdefgh", OK, [200, ""]),
        ("0-pbx1-abcdefgh", Reply(404), [404, "status 404"]),
        ("switchroom", OK, []),
    ],
)
def test_the_span_of_a_request(key: str, reply: Reply, notes: list[object]) -> None:
    """It is one of the request's call, if it has one; every reply is passed on."""
    traces, pbx, replies = NotingTraces(), RecordingPbx(), list[Reply]()
    play = channels.play_with_id("l1", "p1", media=["sound:a"])
    TracedPbx(pbx, cast("Traces", traces)).send(play, key, True, replies.append)
    (sent,) = pbx.sent
    assert (sent.request, sent.key, sent.may_block) == (play, key, True)
    pbx.reply(reply)
    started = [("ARI POST channels/play", key)] if notes else []
    status = [("http.response.status_code", each) for each in notes[:1]]
    assert (traces.notes, replies) == ([*started, *status, *notes[1:]], [reply])


@pytest.mark.parametrize("keeps_order", [True, False])
async def test_a_wrapped_pbx_answers_and_orders_requests_as_before(keeps_order: bool) -> None:
    """Whatever is measured, traced or dropped: a query has no key, so no span and no latency."""
    scene, traces = TimedPbxScene(), NotingTraces()
    scene.pbx.keeps_order = keeps_order
    lease = Lease(1, 1.0, lambda: 0.0)
    for pbx in (
        scene.timed,
        TracedPbx(scene.pbx, cast("Traces", traces)),
        FencedPbx(scene.pbx, lease),
    ):
        assert pbx.keeps_order is keeps_order
        assert (await pbx.ask(channels.list_())).body == b"[]"
    assert (traces.notes, scene.count("websocket"), scene.count("http")) == ([], 0, 0)
