"""A recognizer hears the caller as long as its gather can use speech, and no longer.

After losses, another one starts; when none can be had, digits go on, or the gather ends.
"""

from collections.abc import Iterator

from engine.calls.media.stream_losses import ENDS, FINAL_LOSSES, RETRY_DELAYS_MS
from engine.calls.media.streams import recognizer_of
from engine.calls.model.call import Call
from engine.calls.model.call_states import Gathering
from engine.calls.recognition import MAX_FAILURES
from tests.harness.sim.model import SimChannel
from tests.sim.call_histories import CallHistory
from tests.sim.checks.speech.gathers import SpeechGather
from tests.sim.intervals import Interval, intersect, merge, subtract
from tests.sim.world_view import WorldView

START_MS = 1_000  # time without faults until a recognizer hears
MAX_WAIT_MS = max(RETRY_DELAYS_MS) + 150  # until the next one is tried


def misplaced(history: CallHistory) -> Iterator[str]:
    """Find recognizers that no gather needs, or of which a gather has two."""
    for *_, call in history.intervals:
        found = [each for each in call.streams if each.is_recognizer]
        if found and not can_use_speech(call):
            yield f"{found[0].id} listens in {call.state}"
        if len(found) > 1:
            yield f"{found} listen at once"


def check(world: WorldView, gather: SpeechGather) -> Iterator[str]:
    """Check that a recognizer hears the caller, or that it failed for a reason."""
    yield from _deaf(world, gather)
    yield from _failed(world, gather)


def can_use_speech(call: Call) -> bool:
    """Return whether the call is in a gather that what the caller says may end."""
    state = call.state
    if not isinstance(state, Gathering) or not state.verb.data.hears_speech:
        return False
    has_begun = state.verb.data.barge_in != "off" or state.phase in {"first", "speech"}
    return has_begun and not state.digits and not state.suspended and call.is_up(state.leg)


def _deaf(world: WorldView, gather: SpeechGather) -> Iterator[str]:
    needed, waits = list[Interval](), dict[str, list[Interval]]()
    for begin, end, call, state in gather.intervals:
        stream = recognizer_of(call)
        if stream is not None and stream.is_lost:
            waits.setdefault(stream.id, []).append((begin, end))
        elif can_use_speech(call) and state.recognition != "failed":
            needed.append((begin, end))
    for stream_id, intervals in waits.items():
        if sum(world.faults.healthy_ms(*each) for each in intervals) > MAX_WAIT_MS:
            yield f"{stream_id} ended, and none took its place"
    heard = [each for stream in gather.streams for each in _hearing(world, stream, gather.leg)]
    for interval in subtract(merge(needed), [*heard, *world.gateway_gaps]):
        if world.faults.healthy_ms(*interval) > START_MS:
            yield f"no recognizer hears {gather.leg} for {interval[1] - interval[0]:.0f} ms"


def _hearing(world: WorldView, stream: str, leg: str) -> Iterator[Interval]:
    """Yield when a stream was in a bridge with a snoop on a leg."""
    channels = {**world.pbx.past, **world.pbx.channels}
    channel = channels.get(stream)
    if channel is None:
        return
    snoops = [each for each in channels.values() if each.snooped and each.snooped.id == leg]
    for bridge, interval in _bridged(world, channel):
        for snoop in snoops:
            others = [each for name, each in _bridged(world, snoop) if name == bridge]
            yield from intersect([interval], others)


def _bridged(world: WorldView, channel: SimChannel) -> list[tuple[str, Interval]]:
    return [
        (span.what, (span.begin_ms, world.clock.at_ms if span.end_ms is None else span.end_ms))
        for span in channel.spans
        if span.kind == "bridge"
    ]


def _failed(world: WorldView, gather: SpeechGather) -> Iterator[str]:
    data, event = gather.data, gather.event
    failed_ms = [begin for begin, *_, state in gather.intervals if state.recognition == "failed"]
    if not data.takes_digits and any(_waits_in_vain(each[-1]) for each in gather.intervals):
        yield "went on after its prompt without a recognizer, and without digits"
    if event is not None and event.reason == "recognizer-failed":
        failed_ms.append(gather.last.at_ms)
        if data.takes_digits:
            yield "gave up for want of a recognizer, although digits go on"
    if failed_ms and not _is_founded(world, gather, failed_ms[0]):
        yield f"gave up its recognizer after {len(gather.streams)}"


def _waits_in_vain(state: Gathering) -> bool:
    return state.recognition == "failed" and state.phase == "first" and not state.suspended


def _is_founded(world: WorldView, gather: SpeechGather, at_ms: float) -> bool:
    """Return whether the last recognizer said why, several were lost, or the caller was gone."""
    caller = world.pbx.past.get(gather.leg)
    if caller is not None and caller.ended_ms is not None and caller.ended_ms <= at_ms:
        return True
    last = world.recognizers.get(gather.streams[-1]) if gather.streams else None
    reason = last.ended.reason if last is not None and last.ended is not None else ""
    is_final = reason in ENDS | FINAL_LOSSES
    return is_final or len(gather.streams) > MAX_FAILURES
