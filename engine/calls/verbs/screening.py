"""Call screening of a dialed leg before it is connected: detection, a whisper, a confirmation.

Each stage runs on a copy of the call whose main leg is the screened leg; the call itself stays in
the state `Dialing`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from engine.calls.model.call import Call, Step
from engine.calls.model.call_states import (
    Advance,
    Detecting,
    Gathering,
    Playing,
    Screening,
    ScreeningStage,
)
from engine.calls.model.commands import Command
from engine.calls.model.events import DeadlinePassed, Event, Recovered
from engine.calls.verbs import amd, play
from engine.calls.verbs.gather import gather
from engine.calls.verbs.suspendable_playback import stop_sound
from wire.answer_detection import Confirm, MachineDetection, detection_settings
from wire.verbs import SINGLE_LEG_VERBS, DialData, Gather, GatherData, Play, Say

STAGES: tuple[ScreeningStage, ...] = ("detecting", "whispering", "confirming")
MAX_STAGE_MS = 120_000  # a longer prompt is cut off
StagePosition = tuple[str, ScreeningStage, int]  # the leg, its stage, and the stage's time limit
Outcome = Screening | Literal["connect", "refuse"]
ScreeningStep = tuple[Call, Outcome, tuple[Command, ...]]
OnHold = Callable[[Call, Any, str, int], Step]


def _go_on(call: Call, _state: Any, _leg: str, _now: int) -> Step:
    return call, ()


class _Rules(NamedTuple):
    on_event: Callable[[Call, Any, Event, int], Step]
    suspend: OnHold = _go_on
    resume: OnHold = _go_on


# What the tables of all verbs and states, which import this module, have for a single leg.
STARTS: Mapping[type, Callable[[Call, Any, int], Step]] = {
    Play: play.start,
    Say: play.start,
    Gather: gather.start,
}
STATES: Mapping[type, _Rules] = {
    Detecting: _Rules(amd.on_event),
    Playing: _Rules(play.on_event, play.suspend, play.resume),
    Gathering: _Rules(gather.on_event, gather.suspend, gather.resume),
}


def is_wanted(data: DialData) -> bool:
    """Return whether a dial asks for any stage."""
    detects = detection_settings(data.machine_detection) is not None
    return detects or data.whisper is not None or data.confirm is not None


def start(call: Call, data: DialData, leg: str, now: int) -> ScreeningStep:
    """Start the screening of a leg that has answered; without any stage it is connected."""
    return _start_next_stage(call, data, leg, STAGES, now)


def on_event(
    call: Call, data: DialData, screening: Screening, event: Event, now: int
) -> ScreeningStep:
    """Let a screened leg react to an event; a stage ends at its time limit."""
    match event:
        case DeadlinePassed() if now < screening.due_ms:
            return call, screening, ()
        case DeadlinePassed() if now >= screening.limit_ms:
            call, outcome, commands = _finish_stage(call, data, screening.position, "", now)
            return call, outcome, (*stop_sound(screening.state), *commands)
        case Recovered():
            screening = replace(screening, limit_ms=now + MAX_STAGE_MS)
        case _:
            pass
    leg_call = _leg_call(call, screening)
    after, commands = STATES[type(screening.state)].on_event(leg_call, screening.state, event, now)
    if after is leg_call:
        return call, screening, ()
    return _merge(call, data, screening.position, (after, commands), now)


def suspend(call: Call, data: DialData, screening: Screening, now: int) -> ScreeningStep:
    """Suspend the stage of a leg whose phone holds; the stage keeps its time limit."""
    rules, leg_call = STATES[type(screening.state)], _leg_call(call, screening)
    step = rules.suspend(leg_call, screening.state, screening.leg, now)
    return _merge(call, data, screening.position, step, now)


def resume(call: Call, data: DialData, screening: Screening, now: int) -> ScreeningStep:
    """Continue the stage of a leg whose phone resumes."""
    rules, leg_call = STATES[type(screening.state)], _leg_call(call, screening)
    step = rules.resume(leg_call, screening.state, screening.leg, now)
    return _merge(call, data, screening.position, step, now)


def _leg_call(call: Call, screening: Screening) -> Call:
    """Return the copy of the call whose main leg is the screened leg."""
    return replace(call, main=screening.leg, state=screening.state, continuation=())


def _start_next_stage(
    call: Call, data: DialData, leg: str, stages: tuple[ScreeningStage, ...], now: int
) -> ScreeningStep:
    """Start the first of these stages that the dial asks for; without one, connect."""
    if not stages:
        return call, "connect", ()
    leg_call = replace(call, main=leg, continuation=())
    leg_call, commands = _start_stage(leg_call, data, stages[0], now)
    if leg_call.state is call.state:
        return _start_next_stage(call, data, leg, stages[1:], now)
    return _merge(call, data, (leg, stages[0], now + MAX_STAGE_MS), (leg_call, commands), now)


def _start_stage(leg_call: Call, data: DialData, stage: ScreeningStage, now: int) -> Step:
    detection = detection_settings(data.machine_detection)
    match stage:
        case "detecting" if detection is not None:
            return amd.start(leg_call, detection, now)
        case "whispering" if data.whisper is not None:
            return replace(leg_call, state=Advance(data.whisper, "whisper")), ()
        case "confirming" if data.confirm is not None:
            return replace(leg_call, state=Advance(_confirm_verb(data.confirm), "confirm")), ()
        case _:
            return leg_call, ()


def _confirm_verb(confirm: Confirm) -> Gather:
    data = GatherData(
        audio_url=confirm.audio_url,
        text=confirm.text,
        voice=confirm.voice,
        language=confirm.language,
        max_digits=1,
        timeout=confirm.timeout,
        terminator="",
    )
    return Gather(data)


def _merge(
    call: Call, data: DialData, position: StagePosition, step: Step, now: int
) -> ScreeningStep:
    """Merge the step of the leg's copy into the call."""
    leg_call, commands = step
    while isinstance(leg_call.state, Advance) and isinstance(
        leg_call.state.action, SINGLE_LEG_VERBS
    ):
        leg_call, more = STARTS[type(leg_call.state.action)](leg_call, leg_call.state.action, now)
        commands = (*commands, *more)
    merged = replace(
        leg_call,
        main=call.main,
        state=call.state,
        continuation=call.continuation,
        answered_by=call.answered_by,
    )
    match leg_call.state:
        case Detecting() | Playing() | Gathering() as state:
            leg, stage, limit_ms = position
            return merged, Screening(leg, stage, state, limit_ms), commands
        case Advance(digits=digits):
            call, outcome, more = _finish_stage(merged, data, position, digits, now)
            return call, outcome, (*commands, *more)
        case state:  # a verb of a single leg has no other
            raise AssertionError(state)


def _finish_stage(
    call: Call, data: DialData, position: StagePosition, digits: str, now: int
) -> ScreeningStep:
    """End a stage: refuse a leg with an unwanted machine or a wrong digit, else start the next."""
    leg, stage, _limit_ms = position
    if stage == "detecting" and _is_rejected_machine(call, data, leg):
        return call, "refuse", ()
    if stage == "confirming" and data.confirm is not None and digits != data.confirm.digit:
        return call, "refuse", ()
    return _start_next_stage(call, data, leg, STAGES[STAGES.index(stage) + 1 :], now)


def _is_rejected_machine(call: Call, data: DialData, leg_id: str) -> bool:
    leg, detection = call.leg(leg_id), data.machine_detection
    hangs_up = isinstance(detection, MachineDetection) and detection.on_machine == "hangup"
    return hangs_up and leg is not None and leg.answered_by == "machine"
