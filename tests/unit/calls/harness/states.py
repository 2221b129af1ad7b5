"""A call in each of the states."""

from collections.abc import Callable

from msgspec.structs import replace

from engine.calls.model.events import CallOpened, LegAnswered, LegCreated
from engine.calls.model.state import Starting
from tests.unit.calls.harness.builders import (
    CLIPS,
    HTTPS,
    MAIN,
    Story,
    called,
    dialing,
    outbound,
    say,
    talking,
    tree,
)
from tests.unit.calls.harness.screenings import BOB, EVE
from tests.unit.calls.harness.voicemails import ARCHIVE, leaving
from wire.answer_detection import Detection


def gathering(phase: str) -> Story:
    """Return a call in a phase of a gather."""
    data = {"audioUrl": HTTPS, "fallback": say(), "maxDigits": 2}
    story = called({"type": "gather", "data": data, "action": HTTPS})
    if phase != "fetch":
        story.fetched(CLIPS if phase == "prompt" else ())
    if phase == "between":
        story.press("1")
    return story


def ended() -> Story:
    story = called({"type": "hangup"})
    story.hang_up()
    return story


def starting() -> Story:
    story = Story(outbound(say()))
    story.take(CallOpened())
    return story


def detecting() -> Story:
    call = outbound(None)
    setup = Starting(tree(say()), call.must_end_ms, Detection())
    story = Story(replace(call, state=setup))
    for event in (CallOpened(), LegCreated(MAIN), LegAnswered(MAIN)):
        story.take(event)
    return story


def playing() -> Story:
    story = called(say(action=say()))
    story.fetched()
    return story


def archiving() -> Story:
    story = called(say(), recording_destination=ARCHIVE, recording_enabled=True)
    story.hang_up()
    return story


STATES: dict[str, Callable[[], Story]] = {
    "starting": starting,
    "detecting": detecting,
    "playing-fetch": lambda: called(say()),
    "playing": playing,
    "gathering-fetch": lambda: gathering("fetch"),
    "gathering-prompt": lambda: gathering("prompt"),
    "gathering-first": lambda: gathering("first"),
    "gathering-between": lambda: gathering("between"),
    "dialing": lambda: dialing(BOB, EVE, action=say()),
    "recording": leaving,
    "bridged": lambda: talking(BOB, action=say()),
    "awaiting-webhook": lambda: called(HTTPS),
    "awaiting-flow": lambda: called({"type": "flow", "data": {"flowId": "f"}, "action": say()}),
    "ending": lambda: called({"type": "hangup"}),
    "archiving-recordings": archiving,
    "ended": ended,
}
