"""Listening to the main leg until it is known who answered; the reasoning is in `detection`."""

from msgspec.structs import replace

from engine.calls.model.answer_detection import (
    SoundActivity,
    classify,
    silence_ms,
    sound_ended,
    sound_started,
)
from engine.calls.model.call import Call, Step, update_leg
from engine.calls.model.commands import StartTalkDetection, StopTalkDetection
from engine.calls.model.events import DeadlinePassed, Event, Recovered, TalkEnded, TalkStarted
from engine.calls.model.state import Advance, Detecting
from engine.calls.reporting.call_events import emit_leg
from engine.calls.verbs import hangup
from wire.answer_detection import AnsweredBy, Detection
from wire.verbs import Action, Verb


def start(
    call: Call,
    asked: Detection,
    now: int,
    action: Action | None = None,
    on_machine: Verb | str = "continue",
) -> Step:
    """Listen; then run the action, or what is to happen to a machine."""
    heard = SoundActivity(now)
    known_ms, _ = classify(asked, heard)
    state = Detecting(asked, heard, known_ms, action, on_machine)
    return replace(call, state=state), (StartTalkDetection(call.main, silence_ms(asked)),)


def on_event(call: Call, state: Detecting, event: Event, now: int) -> Step:
    """Hear more, until it is known who answered."""
    match event:
        case TalkStarted(leg) if leg == call.main:
            return _update(call, state, sound_started(state.activity, now), now)
        case TalkEnded(leg, duration_ms) if leg == call.main:
            return _update(call, state, sound_ended(state.activity, duration_ms, now), now)
        case DeadlinePassed():
            return _update(call, state, state.activity, now)
        case Recovered():
            return _finish(call, state, "unknown", now)  # what it said meanwhile, nobody knows
        case _:
            return call, ()


def _update(call: Call, state: Detecting, heard: SoundActivity, now: int) -> Step:
    known_ms, who = classify(state.detection, heard)
    if known_ms <= now:
        return _finish(call, state, who, now)
    return replace(call, state=replace(state, activity=heard, deadline_ms=known_ms)), ()


def _finish(call: Call, state: Detecting, who: AnsweredBy, now: int) -> Step:
    call = update_leg(replace(call, answered_by=who), call.main, answered_by=who)
    leg = next(each for each in call.legs if each.id == call.main)
    call, emitted = emit_leg(call, "machine-detection", leg, now)
    commands = (emitted, StopTalkDetection(call.main, who))
    if who == "machine" and state.on_machine == "hangup":
        call, hangups = hangup.start(replace(call, reason="machine"), now, "system")
        return call, (*commands, *hangups)
    replaced = who == "machine" and state.on_machine != "continue"
    action = state.on_machine if replaced else state.action
    return replace(call, state=Advance(action, "start")), commands
