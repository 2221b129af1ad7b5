"""What a dialled leg goes through before it is connected: detection, a whisper, a key to press.

Each stage runs as it would on a call whose main leg this were; the call itself goes on dialling.
"""

from typing import Literal

from msgspec.structs import replace

from engine.calls.model.call import Call, Step
from engine.calls.model.commands import Command
from engine.calls.model.events import DeadlinePassed, Event, Recovered
from engine.calls.model.state import (
    Advance,
    Detecting,
    Gathering,
    Playing,
    Screening,
    ScreeningStage,
)
from engine.calls.verbs import amd, single_leg
from engine.calls.verbs.prompt import stop_sound
from wire.answer_detection import Confirm, MachineDetection, detection_settings
from wire.verbs import DialData, Gather, GatherData

STAGES: tuple[ScreeningStage, ...] = ("detecting", "whispering", "confirming")
MAX_STAGE_MS = 120_000  # of a stage; a prompt that lasts longer is cut
StagePosition = tuple[str, ScreeningStage, int]  # which leg, in which stage, and until when at most
Outcome = Screening | Literal["connect", "refuse"]
ScreeningStep = tuple[Call, Outcome, tuple[Command, ...]]


def start(call: Call, data: DialData, leg: str, now: int) -> ScreeningStep:
    """Greet a leg that has answered, if that is asked for."""
    return _start_next_stage(call, data, leg, STAGES, now)


def on_event(
    call: Call, data: DialData, greeting: Screening, event: Event, now: int
) -> ScreeningStep:
    """Move a greeting; a stage that lasts too long is cut."""
    match event:
        case DeadlinePassed() if now < greeting.due_ms:
            return call, greeting, ()
        case DeadlinePassed() if now >= greeting.limit_ms:
            call, outcome, commands = _finish_stage(call, data, greeting.position, "", now)
            return call, outcome, (*stop_sound(greeting.state), *commands)
        case Recovered():
            greeting = replace(greeting, limit_ms=now + MAX_STAGE_MS)
        case _:
            pass
    alone = replace(call, main=greeting.leg, state=greeting.state, continuation=())
    alone, commands = single_leg.on_event(alone, greeting.state, event, now)
    if alone.state is greeting.state and not commands:
        return call, greeting, ()
    return _merge(call, data, greeting.position, (alone, commands), now)


def _start_next_stage(
    call: Call, data: DialData, leg: str, left: tuple[ScreeningStage, ...], now: int
) -> ScreeningStep:
    """Begin the next stage that is asked for; after the last, connect."""
    if not left:
        return call, "connect", ()
    alone, commands = _start_stage(replace(call, main=leg, continuation=()), data, left[0], now)
    if alone.state is call.state:
        return _start_next_stage(call, data, leg, left[1:], now)
    return _merge(call, data, (leg, left[0], now + MAX_STAGE_MS), (alone, commands), now)


def _start_stage(alone: Call, data: DialData, stage: ScreeningStage, now: int) -> Step:
    detection = detection_settings(data.machine_detection)
    match stage:
        case "detecting" if detection is not None:
            return amd.start(alone, detection, now)
        case "whispering" if data.whisper is not None:
            return replace(alone, state=Advance(data.whisper, "whisper")), ()
        case "confirming" if data.confirm is not None:
            return replace(alone, state=Advance(_confirm_verb(data.confirm), "confirm")), ()
        case _:
            return alone, ()


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


def _merge(call: Call, data: DialData, at: StagePosition, step: Step, now: int) -> ScreeningStep:
    """Take what the leg alone has come to back into the call."""
    alone, commands = step
    while isinstance(alone.state, Advance) and isinstance(alone.state.action, single_leg.VERBS):
        alone, more = single_leg.start(alone, alone.state.action, now)
        commands = (*commands, *more)
    kept = replace(
        alone,
        main=call.main,
        state=call.state,
        continuation=call.continuation,
        answered_by=call.answered_by,
    )
    match alone.state:
        case Detecting() | Playing() | Gathering() as state:
            return kept, Screening(at[0], at[1], state, at[2]), commands
        case Advance(digits=digits):
            call, outcome, more = _finish_stage(kept, data, at, digits, now)
            return call, outcome, (*commands, *more)
        case _:
            raise AssertionError(alone.state)


def _finish_stage(
    call: Call, data: DialData, at: StagePosition, digits: str, now: int
) -> ScreeningStep:
    """End a stage: a machine that is not wanted and a key that is not the right one are refused."""
    leg, stage, _limit_ms = at
    if stage == "detecting" and _is_rejected_machine(call, data, leg):
        return call, "refuse", ()
    if stage == "confirming" and data.confirm is not None and digits != data.confirm.digit:
        return call, "refuse", ()
    return _start_next_stage(call, data, leg, STAGES[STAGES.index(stage) + 1 :], now)


def _is_rejected_machine(call: Call, data: DialData, leg_id: str) -> bool:
    leg, asked = call.leg(leg_id), data.machine_detection
    is_machine = leg is not None and leg.answered_by == "machine"
    return is_machine and isinstance(asked, MachineDetection) and asked.on_machine == "hangup"
