"""pause: a silence on the main leg. Its deadline survives a crash: an outage counts as silence."""

from msgspec.structs import replace

from engine.calls.model.call import Call, Step, is_held
from engine.calls.model.call_states import Advance, Pausing
from engine.calls.model.events import DeadlinePassed, Event
from wire.verbs import Pause


def start(call: Call, verb: Pause, now: int) -> Step:
    length_ms = int(min(verb.data.length, verb.timeout or verb.data.length) * 1000)
    state = Pausing(verb, now + length_ms)
    if is_held(call, call.main):
        return suspend(call, state, call.main, now)
    return replace(call, state=state), ()


def on_event(call: Call, state: Pausing, event: Event, _now: int) -> Step:
    """Advance when the time has passed; digits are ignored."""
    if isinstance(event, DeadlinePassed):
        return replace(call, state=Advance(state.verb.action, "pause")), ()
    return call, ()


def suspend(call: Call, state: Pausing, _leg: str, now: int) -> Step:
    """Stop the clock while the leg is on hold."""
    remaining_ms = max(0, state.deadline_ms - now)
    state = replace(state, suspended=True, remaining_ms=remaining_ms, deadline_ms=call.must_end_ms)
    return replace(call, state=state), ()


def resume(call: Call, state: Pausing, _leg: str, now: int) -> Step:
    """Wait for the rest of the time."""
    deadline_ms = now + state.remaining_ms
    state = replace(state, suspended=False, remaining_ms=0, deadline_ms=deadline_ms)
    return replace(call, state=state), ()
