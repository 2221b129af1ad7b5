"""A gather ends in time; with AMI it gets each digit that was pressed, whatever fails.

Without AMI, digits of an outage can be missing, but no digit counts twice. `menus` checks calls
without faults more exactly.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from engine.calls.model.call_states import Gathering
from engine.calls.model.commands import EmitEvent
from engine.calls.model.events import DigitPressed, DigitStarted, Recovered
from engine.calls.model.stream_events import SpeechUnderstood
from engine.calls.replay_audit import ReplayStep
from tests.harness.sim.model import SimChannel
from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView
from wire.events.call_events import CallEvent

GRACE_MS = 120
SLACK_MS = 30
MARGIN_MS = 100  # around the begin and the end of a gather
LATE_MS = 1_600  # the same where events are late
Presses = Sequence[tuple[str, float, float]]  # digit, down, up


class Gather(Struct, frozen=True):
    """A gather without a hold, from its begin to its event."""

    first: Gathering
    last: Gathering
    begin_ms: float
    end_ms: float
    until_ms: float  # when what ended it happened: a report of it may come later
    listens_ms: float  # start of the running first-digit or inter-digit timeout
    event: CallEvent
    has_key_down: bool  # whether it waited for the release of a key


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check the digits of every gather, and the times of those that no fault disturbed."""
    channels = {**world.pbx.past, **world.pbx.channels}
    for history in histories:
        is_lost = history.record.call.reason == "lost"  # with its node and its recent digits
        for gather in gathers(history):
            if not world.faults.is_disturbed(gather.begin_ms, gather.end_ms):
                yield from ((history.id, message) for message in _in_time(gather))
            channel = channels.get(gather.first.leg)
            if channel is not None and not is_lost:
                yield from (
                    (history.id, message) for message in _violations(world, gather, channel)
                )


def gathers(history: CallHistory) -> Iterator[Gather]:
    """Yield the gathers of a call."""
    first: Gathering | None = None
    begin_ms = listens_ms = 0
    before, held, has_key_down = history.opened, None, False
    for step in history.steps:
        if isinstance(before.state, Gathering) and first is not None:
            gathered = next((e for e in _events(step) if e.event == "gathered"), None)
            if gathered is not None:
                if held is not first.verb:
                    yield Gather(
                        first,
                        before.state,
                        begin_ms,
                        step.at_ms,
                        _happened_ms(step),
                        listens_ms,
                        gathered,
                        has_key_down,
                    )
                first, has_key_down = None, False
        state = step.call.state
        has_key_down = has_key_down or isinstance(step.event, DigitStarted)
        if isinstance(state, Gathering):
            held = (
                state.verb if state.suspended else held
            )  # its timeouts are suspended, and digits do not count
            if first is None or state.limit_ms != first.limit_ms or state.verb is not first.verb:
                first, begin_ms, listens_ms = state, step.at_ms, step.at_ms
            elif isinstance(step.event, Recovered) or not _is_same(before.state, state):
                # A recovery restarts the clock, a handover's too: it is no silence of the caller.
                listens_ms = step.at_ms
        before = step.call


def _events(step: ReplayStep) -> list[CallEvent]:
    return [each.event for each in step.commands if isinstance(each, EmitEvent)]


def _happened_ms(step: ReplayStep) -> int:
    """Return when a step's event happened; an outage delays some events, not their effect."""
    match step.event:
        case SpeechUnderstood(at_ms=at_ms):
            return at_ms
        case DigitPressed(missed=True, pbx_ms=pbx_ms) if pbx_ms:
            return pbx_ms
        case _:
            return step.at_ms


def _is_same(before: object, state: Gathering) -> bool:
    """Return whether a gather is in the same phase with the same digits."""
    if not isinstance(before, Gathering):
        return False
    return (before.phase, before.digits) == (state.phase, state.digits)


def _in_time(gather: Gather) -> Iterator[str]:
    data, last, end_ms = gather.first.verb.data, gather.last, gather.end_ms
    if gather.event.reason == "max-digits" and len(gather.event.dtmf or "") != data.max_digits:
        yield f"gathered {gather.event.dtmf!r}, the wrong number of digits"
    if gather.has_key_down:
        return
    if end_ms > gather.first.limit_ms + SLACK_MS:
        yield "gathered for longer than its timeout"
    if (
        gather.event.reason not in {"timeout", "digit-timeout"}
        or end_ms >= last.limit_ms - GRACE_MS
    ):
        return
    allowed_ms = data.digit_timeout if last.phase == "between" else data.timeout
    waited_ms = end_ms - gather.listens_ms
    if not allowed_ms <= waited_ms <= allowed_ms + GRACE_MS + SLACK_MS:
        yield f"waited {waited_ms} ms for a digit instead of {allowed_ms} ({last.phase})"


def _violations(world: WorldView, gather: Gather, channel: SimChannel) -> Iterator[str]:
    data, dtmf = gather.first.verb.data, gather.event.dtmf or ""
    if not data.takes_digits:
        if dtmf:
            yield f"gathered {dtmf!r}, but understands speech only"
        return
    if gather.event.reason == "terminator":
        dtmf += data.terminator
    pressed = "".join(digit for digit, _, _ in channel.presses)
    if not _within(dtmf, pressed):
        yield f"gathered {dtmf!r} where {pressed!r} was pressed"
    elif not _has_digits(world, gather, channel.presses, dtmf) and world.has_ami_digits(
        gather.begin_ms, gather.end_ms
    ):
        yield f"gathered {dtmf!r} ({gather.event.reason}) of {_shown(gather, channel.presses)}"


def _has_digits(world: WorldView, gather: Gather, presses: Presses, dtmf: str) -> bool:
    """Return whether the gather got its digits; a key held from an earlier state may be dropped."""
    begun = [each for each in presses if not each[1] < gather.begin_ms < each[2]]
    return any(_is_whole(world, gather, each, dtmf) for each in (presses, begun))


def _within(dtmf: str, pressed: str) -> bool:
    left = iter(pressed)
    return all(digit in left for digit in dtmf)


def _is_whole(world: WorldView, gather: Gather, presses: Presses, dtmf: str) -> bool:
    """Return whether adjacent digits were gathered and none that surely belongs is missing.

    The first ones may have been typed ahead, with others between them that were dropped.
    """
    margin_ms = LATE_MS if "late" in world.faults.kinds else MARGIN_MS
    sure = _sure(gather, presses, margin_ms)
    is_full = gather.event.reason in {"max-digits", "terminator"}
    early = "".join(digit for digit, down, _ in presses if down < gather.begin_ms + margin_ms)
    for typed_ahead in range(len(dtmf) + 1):
        own = dtmf[typed_ahead:]
        if not _within(dtmf[:typed_ahead], early):
            return False
        for first in range(len(presses) + 1):
            past = first + len(own)
            is_late = bool(sure) and (sure[0] < first or (sure[-1] >= past and not is_full))
            if not is_late and own == "".join(digit for digit, _, _ in presses[first:past]):
                return True
    return False


def _sure(gather: Gather, presses: Presses, margin_ms: float) -> list[int]:
    """Return the places of the presses that surely belong to a gather."""
    begin_ms, end_ms = gather.begin_ms + margin_ms, gather.until_ms - margin_ms
    limit_ms = gather.last.limit_ms - GRACE_MS - margin_ms
    sure = [
        place
        for place, (_, down, up) in enumerate(presses)
        if begin_ms < down and up < end_ms and down < limit_ms
    ]
    # The first may be the terminator of the gather before.
    return sure[1:] if sure and presses[sure[0]][0] in "#*" else sure


def _shown(gather: Gather, presses: Presses) -> str:
    near = [
        f"{digit}@{up - gather.begin_ms:.0f}" for digit, _, up in presses if up > gather.begin_ms
    ]
    return f"{' '.join(near)} in {gather.end_ms - gather.begin_ms:.0f} ms"
