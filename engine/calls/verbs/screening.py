"""What a dialled leg goes through before it is connected: detection, a whisper, a key to press.

Each stage runs as it would on a call whose main leg this were; the call itself goes on dialling.
"""

from typing import Literal

from msgspec.structs import replace

from engine.calls.model.call import Call, Step
from engine.calls.model.commands import Command
from engine.calls.model.events import DeadlinePassed, Event, Recovered
from engine.calls.model.state import Detecting, Gathering, Greeting, Next, Playing, Stage
from engine.calls.verbs import amd, single_leg
from engine.calls.verbs.prompt import stopped
from wire.answer_detection import Confirm, MachineDetection, settings
from wire.verbs import DialData, Gather, GatherData

STAGES: tuple[Stage, ...] = ("detecting", "whispering", "confirming")
LONGEST_MS = 120_000  # of a stage; a prompt that lasts longer is cut
At = tuple[str, Stage, int]  # which leg, in which stage, and until when at most
Outcome = Greeting | Literal["connect", "refuse"]
Greeted = tuple[Call, Outcome, tuple[Command, ...]]


def start(call: Call, data: DialData, leg: str, now: int) -> Greeted:
    """Greet a leg that has answered, if that is asked for."""
    return _next(call, data, leg, STAGES, now)


def on_event(call: Call, data: DialData, greeting: Greeting, event: Event, now: int) -> Greeted:
    """Move a greeting; a stage that lasts too long is cut."""
    match event:
        case DeadlinePassed() if now < greeting.due_ms:
            return call, greeting, ()
        case DeadlinePassed() if now >= greeting.limit_ms:
            call, outcome, commands = _over(call, data, greeting.at, "", now)
            return call, outcome, (*stopped(greeting.doing), *commands)
        case Recovered():
            greeting = replace(greeting, limit_ms=now + LONGEST_MS)
        case _:
            pass
    alone = replace(call, main=greeting.leg, doing=greeting.doing, rest=())
    alone, commands = single_leg.on_event(alone, greeting.doing, event, now)
    if alone.doing is greeting.doing and not commands:
        return call, greeting, ()
    return _went_on(call, data, greeting.at, (alone, commands), now)


def _next(call: Call, data: DialData, leg: str, left: tuple[Stage, ...], now: int) -> Greeted:
    """Begin the next stage that is asked for; after the last, connect."""
    if not left:
        return call, "connect", ()
    alone, commands = _begun(replace(call, main=leg, rest=()), data, left[0], now)
    if alone.doing is call.doing:
        return _next(call, data, leg, left[1:], now)
    return _went_on(call, data, (leg, left[0], now + LONGEST_MS), (alone, commands), now)


def _begun(alone: Call, data: DialData, stage: Stage, now: int) -> Step:
    detection = settings(data.machine_detection)
    match stage:
        case "detecting" if detection is not None:
            return amd.start(alone, detection, now)
        case "whispering" if data.whisper is not None:
            return replace(alone, doing=Next(data.whisper, "whisper")), ()
        case "confirming" if data.confirm is not None:
            return replace(alone, doing=Next(_key(data.confirm), "confirm")), ()
        case _:
            return alone, ()


def _key(confirm: Confirm) -> Gather:
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


def _went_on(call: Call, data: DialData, at: At, step: Step, now: int) -> Greeted:
    """Take what the leg alone has come to back into the call."""
    alone, commands = step
    while isinstance(alone.doing, Next) and isinstance(alone.doing.action, single_leg.VERBS):
        alone, more = single_leg.start(alone, alone.doing.action, now)
        commands = (*commands, *more)
    kept = replace(
        alone, main=call.main, doing=call.doing, rest=call.rest, answered_by=call.answered_by
    )
    match alone.doing:
        case Detecting() | Playing() | Gathering() as doing:
            return kept, Greeting(at[0], at[1], doing, at[2]), commands
        case Next(digits=digits):
            call, outcome, more = _over(kept, data, at, digits, now)
            return call, outcome, (*commands, *more)
        case _:
            raise AssertionError(alone.doing)


def _over(call: Call, data: DialData, at: At, digits: str, now: int) -> Greeted:
    """End a stage: a machine that is not wanted and a key that is not the right one are refused."""
    leg, stage, _limit_ms = at
    if stage == "detecting" and _is_unwanted(call, data, leg):
        return call, "refuse", ()
    if stage == "confirming" and data.confirm is not None and digits != data.confirm.digit:
        return call, "refuse", ()
    return _next(call, data, leg, STAGES[STAGES.index(stage) + 1 :], now)


def _is_unwanted(call: Call, data: DialData, leg_id: str) -> bool:
    leg, asked = call.leg(leg_id), data.machine_detection
    is_machine = leg is not None and leg.answered_by == "machine"
    return is_machine and isinstance(asked, MachineDetection) and asked.on_machine == "hangup"
