"""How groups of readers stand is counted for this engine's slots, and a loss is cried out."""

from structlog.testing import capture_logs

from engine.observe.metrics import Metrics
from engine.runtime.io.consumer_lag import ConsumerLag
from engine.store.memory.stream import MemoryStream
from engine.store.stream import Consumer, StreamLimits

CDR = Consumer("cdr", "api1")


async def test_what_waits_is_summed_over_our_slots() -> None:
    """Other engines tell of theirs; a slot or a group that is gone is told of no more."""
    stream, meter, ours = MemoryStream(lambda: 1, StreamLimits()), Metrics(), {0, 1}
    for slot in (0, 1, 2):
        stream.append(slot, [b"a", b"b", b"c"])
    await stream.read_group(CDR, [0, 1, 2], 0, 3)
    readers = ConsumerLag(stream, lambda: ours, meter)
    await readers.poll()
    assert dict(meter.consumer_groups.lag) == {("cdr",): 4}
    assert dict(meter.consumer_groups.pending) == {("cdr",): 2}
    ours.remove(1)
    await readers.poll()
    assert dict(meter.consumer_groups.lag) == {("cdr",): 2}
    await stream.drop_group("cdr", [0, 1, 2])
    await readers.poll()
    assert dict(meter.consumer_groups.lag) == {}


async def test_a_loss_is_cried_out_once() -> None:
    """And again when it has grown."""
    stream, meter = MemoryStream(lambda: 1, StreamLimits(1, 1)), Metrics()
    await stream.read_group(CDR, [0], 0, 1)
    readers = ConsumerLag(stream, lambda: {0}, meter)
    with capture_logs() as said:
        for _ in range(2):
            stream.append(0, [b"x"] * 300)
            await readers.poll()
            await readers.poll()
    assert [(each["log_level"], each["slot"]) for each in said] == [("error", 0), ("error", 0)]
    assert meter.consumer_groups.lost.total == said[-1]["max_lost"] > said[0]["max_lost"] > 0
