"""An answered leg is bridged, hears something or is hung up at once; callers are answered."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from engine.calls.model.call_states import (
    AwaitingInstructions,
    Dialing,
    Gathering,
    RecordingVoicemail,
)
from engine.calls.model.commands import Answer, Hangup
from engine.calls.model.events import DeadlinePassed, LegEnded, Recovered
from tests.harness.sim.model import SimChannel
from tests.harness.sim.phone import is_dialled
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import AT_ONCE_MS
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every leg of a world."""
    opened = {history.opened.main for history in histories}
    screened = {
        leg.leg
        for history in histories
        for step in history.steps
        if isinstance(step.call.state, Dialing)
        for leg in step.call.state.screenings
    }
    silent_ms = _silent_ms(histories)
    channels = [*world.pbx.past.values(), *world.pbx.channels.values()]
    for channel in channels:
        is_waiting = is_dialled(channel) and channel.id not in screened
        if is_waiting and (waited_ms := _waited_ms(world, channel, silent_ms)) > AT_ONCE_MS:
            yield channel.id, f"answered, but left in silence for {waited_ms:.0f} ms"
        # A refusal that was lost is not repeated: the reaper ends the channel.
        is_due = channel.id in opened or "lost" not in world.faults.kinds
        if is_due and _is_unanswered(world, channel):
            calls = [each for each in histories if each.opened.main == channel.id]
            if not any(_may_ring_on(world, each) for each in calls):
                yield channel.id, "came in but was not answered"


def _may_ring_on(world: WorldView, history: CallHistory) -> bool:
    """Return whether a call may end before its main leg is answered."""
    return bool(history.steps) and (
        history.steps[-1].call.answer_deferred
        or _is_hung_up_ringing(history)
        or _is_over_after_outage(history)
        or _is_over_in_outage(world, history)
    )


def _is_hung_up_ringing(history: CallHistory) -> bool:
    """Return whether a request hung up the main leg before it was answered."""
    ringing = [step.call for step in history.steps if step.call.answer_deferred]
    leg = ringing[-1].leg(history.opened.main) if ringing else None
    return leg is not None and leg.hangup_requested


def _is_over_after_outage(history: CallHistory) -> bool:
    """Return whether the conversation's time was over before an outage that delayed the answer."""
    return any(
        isinstance(recovered.event, Recovered)
        and isinstance(after.event, DeadlinePassed)
        and after.at_ms == recovered.at_ms
        and not after.call.answered_ms
        for recovered, after in pairwise(history.steps)
    )


def _is_over_in_outage(world: WorldView, history: CallHistory) -> bool:
    """Return whether a call was over in the outage in which it was to be answered."""
    main = history.opened.main
    decided_ms: list[float] = []
    over_ms: list[float] = []
    for step in history.steps:
        commands = [each for each in step.commands if isinstance(each, (Answer, Hangup))]
        decided_ms += [step.at_ms for each in commands if each == Answer(main)]
        over_ms += [step.at_ms for each in commands if each.leg == main and each != Answer(main)]
        if isinstance(step.event, LegEnded) and step.event.leg == main:
            over_ms.append(step.event.seen_ms or step.at_ms)
    return any(
        world.faults.healthy_ms(decided_ms[0], each) < AT_ONCE_MS
        for each in over_ms
        if decided_ms and each >= decided_ms[0]
    )


def _silent_ms(histories: Sequence[CallHistory]) -> dict[str, float]:
    """Return since when each leg may hear nothing."""
    since_ms: dict[str, float] = {}
    for history in histories:
        for step in history.steps:
            call = step.call
            for each in call.legs:
                if each.held_by_phone:  # so it is in no bridge, and hears nothing
                    since_ms.setdefault(each.id, step.at_ms)
            match call.state:
                case (
                    AwaitingInstructions() | RecordingVoicemail()
                ):  # a transfer can leave the tree to a called leg
                    since_ms.setdefault(call.main, step.at_ms)
                case Gathering(
                    leg=leg, phase="first" | "between"
                ):  # its prompt can count as finished
                    since_ms.setdefault(leg, step.at_ms)
                case _:
                    pass
    return since_ms


def _waited_ms(world: WorldView, channel: SimChannel, silent_ms: Mapping[str, float]) -> float:
    if channel.up_ms is None:
        return 0
    heard = (span.begin_ms for span in channel.spans if span.kind in {"bridge", "moh", "play"})
    until_ms = next(heard, channel.ended_ms or world.clock.at_ms)
    until_ms = min(until_ms, silent_ms.get(channel.id, until_ms))
    return world.faults.healthy_ms(channel.up_ms, until_ms)


def _is_unanswered(world: WorldView, channel: SimChannel) -> bool:
    if not channel.is_inbound or channel.up_ms is not None or not channel.in_stasis:
        return False
    until_ms = channel.ended_ms or world.clock.at_ms
    return world.faults.healthy_ms(channel.born_ms, until_ms) > AT_ONCE_MS
