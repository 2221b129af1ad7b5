"""Metrics of consumer groups, and the log of lost events."""

from structlog.testing import capture_logs

from engine.observe.metrics import Metrics
from engine.runtime.io.consumer_lag import ConsumerLag
from engine.store.stream import Consumer, StreamLimits
from tests.harness.memory_store.stream import MemoryStream
from tests.harness.shards import at

CDR = Consumer("cdr", "api1")


async def test_lag_is_summed_over_own_shards() -> None:
    """Other engines report their shards; a released shard and a deleted group disappear."""
    stream, meter, ours = MemoryStream(lambda: 1, StreamLimits()), Metrics(), {at(0), at(1)}
    for shard in (at(0), at(1), at(2)):
        stream.append(shard, [b"a", b"b", b"c"])
    await stream.read_group(CDR, [at(0), at(1), at(2)], 0, 3)
    lag = ConsumerLag(stream, lambda: ours, meter)
    await lag.poll()
    assert dict(meter.consumer_groups.lag) == {("cdr",): 4}
    assert dict(meter.consumer_groups.pending) == {("cdr",): 2}
    ours.remove(at(1))
    await lag.poll()
    assert dict(meter.consumer_groups.lag) == {("cdr",): 2}
    await stream.drop_group("cdr", [at(0), at(1), at(2)])
    await lag.poll()
    assert dict(meter.consumer_groups.lag) == {}


async def test_a_loss_is_logged_once() -> None:
    """It is logged again when it has grown."""
    stream, meter = MemoryStream(lambda: 1, StreamLimits(1, 1)), Metrics()
    await stream.read_group(CDR, [at(0)], 0, 1)
    lag = ConsumerLag(stream, lambda: {at(0)}, meter)
    with capture_logs() as logged:
        for _ in range(2):
            stream.append(at(0), [b"x"] * 300)
            await lag.poll()
            await lag.poll()
    assert [(each["log_level"], each["shard"]) for each in logged] == [("error", str(at(0)))] * 2
    assert meter.consumer_groups.lost.total == logged[-1]["max_lost"] > logged[0]["max_lost"] > 0
