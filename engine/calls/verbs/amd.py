"""Listening to the main leg until it is known who answered; the reasoning is in `detection`."""

from msgspec.structs import replace

from engine.calls.model.answer_detection import Heard, began, ended, pause_ms, verdict
from engine.calls.model.call import Call, Step, changed_leg
from engine.calls.model.commands import DetectTalk, EndDetection
from engine.calls.model.events import DeadlinePassed, Event, Recovered, TalkEnded, TalkStarted
from engine.calls.model.state import Detecting, Next
from engine.calls.reporting.call_events import tell_leg
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
    heard = Heard(now)
    known_ms, _ = verdict(asked, heard)
    doing = Detecting(asked, heard, known_ms, action, on_machine)
    return replace(call, doing=doing), (DetectTalk(call.main, pause_ms(asked)),)


def on_event(call: Call, doing: Detecting, event: Event, now: int) -> Step:
    """Hear more, until it is known who answered."""
    match event:
        case TalkStarted(leg) if leg == call.main:
            return _heard(call, doing, began(doing.heard, now), now)
        case TalkEnded(leg, duration_ms) if leg == call.main:
            return _heard(call, doing, ended(doing.heard, duration_ms, now), now)
        case DeadlinePassed():
            return _heard(call, doing, doing.heard, now)
        case Recovered():
            return _known(call, doing, "unknown", now)  # what it said meanwhile, nobody knows
        case _:
            return call, ()


def _heard(call: Call, doing: Detecting, heard: Heard, now: int) -> Step:
    known_ms, who = verdict(doing.detection, heard)
    if known_ms <= now:
        return _known(call, doing, who, now)
    return replace(call, doing=replace(doing, heard=heard, deadline_ms=known_ms)), ()


def _known(call: Call, doing: Detecting, who: AnsweredBy, now: int) -> Step:
    call = changed_leg(replace(call, answered_by=who), call.main, answered_by=who)
    leg = next(each for each in call.legs if each.id == call.main)
    call, told = tell_leg(call, "machine-detection", leg, now)
    commands = (told, EndDetection(call.main, who))
    if who == "machine" and doing.on_machine == "hangup":
        call, hangups = hangup.start(replace(call, reason="machine"), now, "system")
        return call, (*commands, *hangups)
    replaced = who == "machine" and doing.on_machine != "continue"
    action = doing.on_machine if replaced else doing.action
    return replace(call, doing=Next(action, "start")), commands
