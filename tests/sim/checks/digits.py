"""A gather reports exactly what was pressed while it listened, and ends in time."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from engine.calls.model.call_states import Gathering
from engine.calls.model.commands import EmitEvent
from engine.calls.model.events import DigitPressed
from engine.calls.replay import ReplayStep
from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView
from wire.events import CallEvent

GRACE_MS = 120
SLACK_MS = 30


class Gather(Struct, frozen=True):
    """A gather without a hold, from its begin to its event."""

    first: Gathering
    last: Gathering
    begin_ms: float
    end_ms: float
    listens_ms: float  # start of the running first-digit or inter-digit timeout
    event: CallEvent


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every gather that no fault disturbed."""
    heard: dict[str, list[tuple[str, int]]] = {}
    for channel, digit, at_ms in world.digits:
        heard.setdefault(channel, []).append((digit, at_ms))
    for history in histories:
        for gather in gathers(history):
            if not world.faults.is_disturbed(gather.begin_ms, gather.end_ms):
                pressed = heard.get(gather.first.leg, ())
                yield from ((history.id, message) for message in _exact(gather, pressed))
                yield from ((history.id, message) for message in _in_time(gather))


def gathers(history: CallHistory) -> Iterator[Gather]:
    """Yield the gathers of a call."""
    first: Gathering | None = None
    begin_ms = listens_ms = 0
    before, held = history.opened, None
    for step in history.steps:
        if isinstance(before.state, Gathering) and first is not None:
            gathered = next((e for e in _events(step) if e.event == "gathered"), None)
            if gathered is not None:
                if held is not first.verb:
                    yield Gather(first, before.state, begin_ms, step.at_ms, listens_ms, gathered)
                first = None
        state = step.call.state
        if isinstance(state, Gathering):
            held = (
                state.verb if state.suspended else held
            )  # its timeouts are suspended, and digits do not count
            if first is None or state.limit_ms != first.limit_ms or state.verb is not first.verb:
                first, begin_ms, listens_ms = state, step.at_ms, step.at_ms
            elif isinstance(step.event, DigitPressed) or not _is_same(before.state, state):
                listens_ms = step.at_ms
        before = step.call


def _events(step: ReplayStep) -> list[CallEvent]:
    return [each.event for each in step.commands if isinstance(each, EmitEvent)]


def _is_same(before: object, state: Gathering) -> bool:
    return isinstance(before, Gathering) and before.phase == state.phase


def _exact(gather: Gather, pressed: Sequence[tuple[str, int]]) -> Iterator[str]:
    begin_ms, end_ms, event = gather.begin_ms, gather.end_ms, gather.event
    surely = "".join(digit for digit, at_ms in pressed if begin_ms < at_ms < end_ms)
    before = ["", *(digit for digit, at_ms in pressed if at_ms == begin_ms)]
    after = "".join(digit for digit, at_ms in pressed if at_ms == end_ms)
    dtmf = event.dtmf or ""
    ends = {
        "terminator": [gather.first.verb.data.terminator],
        "timeout": ["", *after],
        "digit-timeout": ["", *after],
    }.get(event.reason or "", [""])
    cuts = {after[:n] for n in range(len(after) + 1)}
    if not any(b + surely + a == dtmf + e for b in before for a in cuts for e in ends):
        yield f"gathered {dtmf!r} ({event.reason}) of {before[1:]} {surely!r} {after!r}"
    if event.reason == "max-digits" and len(dtmf) != gather.first.verb.data.max_digits:
        yield f"gathered {dtmf!r}, the wrong number of digits"


def _in_time(gather: Gather) -> Iterator[str]:
    data, last, end_ms = gather.first.verb.data, gather.last, gather.end_ms
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
