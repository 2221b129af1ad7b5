"""What a paused shard's buffer tells about the events that it missed."""

from msgspec.structs import replace

from engine.calls.model.events import LegHeldByPhone, LegResumedByPhone
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.pause_buffer import PauseBuffer
from tests.harness.calls.builders import inbound, outbound


def test_legs_held_before_the_gap() -> None:
    """Those whose phone held before it and did nothing after it, by call."""
    first, second = LiveCall(inbound()), LiveCall(replace(outbound(), id="0-pbx1-other"))
    buffer = PauseBuffer()
    buffer.append(first, LegHeldByPhone("a"))
    buffer.append(second, LegHeldByPhone("b"))
    buffer.append(second, LegHeldByPhone("c"))
    buffer.append(second, LegHeldByPhone("d"))
    buffer.append(second, LegResumedByPhone("d"))
    buffer.mark_gap()
    buffer.append(first, LegHeldByPhone("e"))
    buffer.append(second, LegResumedByPhone("c"))
    assert buffer.held_before_gap() == {first.call.id: ["a"], second.call.id: ["b"]}
