"""The standard call as values: its initial state and all its events."""

import msgspec

from engine.calls.model.call import Call
from engine.calls.model.call_states import Gathering, Starting
from engine.calls.model.commands import Answer, Command, Hangup, Play
from engine.calls.model.events import (
    CallOpened,
    DigitPressed,
    Event,
    LegAnswered,
    LegEnded,
    PlaybackEnded,
)
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.leg import Leg
from engine.calls.step import step
from tools.bench.ivr.load import DIGITS
from tools.bench.ivr.stack import standard_tree
from wire.media import Clip
from wire.tree import Limits, parse_action

CHANNEL = "pbx1-1795237552.7"
CLIP = Clip("d377c73f18eb09057d2484177f9af937", 1_000)
STARTED_MS = 1_795_237_552_000


def standard_call() -> Call:
    """Return the call as it arrives."""
    tree = msgspec.json.encode(standard_tree("http://127.0.0.1:1"))
    action = parse_action(tree, Limits(allow_insecure=True))
    return Call(
        id="s3.pbx1.01a1b2c3d4e5f6",
        account="bench",
        direction="inbound",
        from_="+15550001",
        to="+15550701",
        main=CHANNEL,
        legs=(Leg(CHANNEL, "+15550001", "created", STARTED_MS),),
        state=Starting(action, STARTED_MS + 10_000),
        created_ms=STARTED_MS,
        must_end_ms=STARTED_MS + 14_400_000,
        caller_kind="trunk",
    )


def standard_events() -> list[Event]:
    """Return its events, as a PBX that executes all commands would send them."""
    call, commands = step(standard_call(), CallOpened(), STARTED_MS)
    events: list[Event] = [CallOpened()]
    pending = _results(commands)
    while pending:
        events.append(pending.pop(0))
        call, commands = step(call, events[-1], STARTED_MS)
        pending += _results(commands)
        if not pending and isinstance(call.state, Gathering):
            pending = [DigitPressed(CHANNEL, digit, STARTED_MS) for digit in DIGITS]
    if not call.is_ended:
        raise RuntimeError(f"the standard call stops at {call.state}")
    return events


def _results(commands: tuple[Command, ...]) -> list[Event]:
    results: list[Event] = []
    for command in commands:
        match command:
            case Answer(leg):
                results.append(LegAnswered(leg))
            case FetchMedia(request):
                results.append(MediaFetched(request, (CLIP,)))
            case Play(playback=playback):
                results.append(PlaybackEnded(playback))
            case Hangup(leg, cause):
                results.append(LegEnded(leg, cause))
            case _:
                pass
    return results
