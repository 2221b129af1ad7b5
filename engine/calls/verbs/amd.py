"""Answer detection on the main leg; `verbs.answer_classifier` has the rules."""

from msgspec.structs import replace

from engine.calls.model.amd_sounds import AmdSounds, sound_ended, sound_started
from engine.calls.model.call import Call, Step, update_leg
from engine.calls.model.call_states import Advance, Detecting, Starting
from engine.calls.model.commands import StartTalkDetection, StopTalkDetection
from engine.calls.model.events import DeadlinePassed, Event, Recovered, TalkEnded, TalkStarted
from engine.calls.reporting.call_events import emit_leg
from engine.calls.verbs import call_end
from engine.calls.verbs.answer_classifier import classify, silence_ms
from wire.answer_detection import AnsweredBy, Detection

NOTHING_NEXT = Starting(None, 0)  # the caller of `start` decides what follows


def start(call: Call, detection: Detection, now: int, starting: Starting = NOTHING_NEXT) -> Step:
    """Start detection; then the action of `starting` runs, or its `on_machine` for a machine."""
    activity = AmdSounds(now)
    known_ms, _ = classify(detection, activity)
    state = Detecting(
        detection, activity, known_ms, starting.action, starting.on_machine, starting.fallback
    )
    return replace(call, state=state), (StartTalkDetection(call.main, silence_ms(detection)),)


def on_event(call: Call, state: Detecting, event: Event, now: int) -> Step:
    """Update the sound activity, until the result is known."""
    match event:
        case TalkStarted(leg) if leg == call.main:
            return _update(call, state, sound_started(state.activity, now), now)
        case TalkEnded(leg, duration_ms) if leg == call.main:
            return _update(call, state, sound_ended(state.activity, duration_ms, now), now)
        case DeadlinePassed():
            return _update(call, state, state.activity, now)
        case Recovered():
            return _finish(call, state, "unknown", now)  # sounds during the outage are unknown
        case _:
            return call, ()


def _update(call: Call, state: Detecting, activity: AmdSounds, now: int) -> Step:
    known_ms, answered_by = classify(state.detection, activity)
    if known_ms <= now:
        return _finish(call, state, answered_by, now)
    return replace(call, state=replace(state, activity=activity, deadline_ms=known_ms)), ()


def _finish(call: Call, state: Detecting, answered_by: AnsweredBy, now: int) -> Step:
    call = update_leg(replace(call, answered_by=answered_by), call.main, answered_by=answered_by)
    leg = next(each for each in call.legs if each.id == call.main)
    call, emitted = emit_leg(call, "machine-detection", leg, now)
    commands = (emitted, StopTalkDetection(call.main, answered_by))
    is_machine = answered_by == "machine"
    if is_machine and state.on_machine == "hangup":
        call, hangups = call_end.start(replace(call, reason="machine"), now, "system")
        return call, (*commands, *hangups)
    runs_other = is_machine and state.on_machine != "continue"
    action = state.on_machine if runs_other else state.action
    return replace(call, state=Advance(action, "start", fallback=state.fallback)), commands
