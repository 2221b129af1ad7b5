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
    doing = Detecting(asked, heard, known_ms, action, on_machine)
    return replace(call, state=doing), (StartTalkDetection(call.main, silence_ms(asked)),)


def on_event(call: Call, doing: Detecting, event: Event, now: int) -> Step:
    """Hear more, until it is known who answered."""
    match event:
        case TalkStarted(leg) if leg == call.main:
            return _update(call, doing, sound_started(doing.activity, now), now)
        case TalkEnded(leg, duration_ms) if leg == call.main:
            return _update(call, doing, sound_ended(doing.activity, duration_ms, now), now)
        case DeadlinePassed():
            return _update(call, doing, doing.activity, now)
        case Recovered():
            return _finish(call, doing, "unknown", now)  # what it said meanwhile, nobody knows
        case _:
            return call, ()


def _update(call: Call, doing: Detecting, heard: SoundActivity, now: int) -> Step:
    known_ms, who = classify(doing.detection, heard)
    if known_ms <= now:
        return _finish(call, doing, who, now)
    return replace(call, state=replace(doing, activity=heard, deadline_ms=known_ms)), ()


def _finish(call: Call, doing: Detecting, who: AnsweredBy, now: int) -> Step:
    call = update_leg(replace(call, answered_by=who), call.main, answered_by=who)
    leg = next(each for each in call.legs if each.id == call.main)
    call, told = emit_leg(call, "machine-detection", leg, now)
    commands = (told, StopTalkDetection(call.main, who))
    if who == "machine" and doing.on_machine == "hangup":
        call, hangups = hangup.start(replace(call, reason="machine"), now, "system")
        return call, (*commands, *hangups)
    replaced = who == "machine" and doing.on_machine != "continue"
    action = doing.on_machine if replaced else doing.action
    return replace(call, state=Advance(action, "start")), commands
