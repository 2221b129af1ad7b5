"""A call in each of the states."""

from collections.abc import Callable

from msgspec.structs import replace

from engine.calls.model.call_states import Starting
from engine.calls.model.events import CallOpened, LegAnswered, LegCreated
from tests.harness.calls.builders import (
    CLIPS,
    HTTPS,
    MAIN,
    Story,
    answered_call,
    bridged_call,
    dialing_call,
    outbound,
    say,
    tree,
)
from tests.harness.calls.screenings import BOB, EVE
from tests.harness.calls.voicemails import ARCHIVE, recording_voicemail
from wire.answer_detection import Detection


def gathering(phase: str) -> Story:
    """Return a call in a phase of a gather."""
    data = {"audioUrl": HTTPS, "fallback": say(), "maxDigits": 2}
    story = answered_call({"type": "gather", "data": data, "action": HTTPS})
    if phase != "fetch":
        story.deliver_media(CLIPS if phase == "prompt" else ())
    if phase == "between":
        story.press("1")
    return story


def ended() -> Story:
    story = answered_call({"type": "hangup"})
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
    story = answered_call(say(action=say()))
    story.deliver_media()
    return story


def archiving() -> Story:
    story = answered_call(say(), recording_destination=ARCHIVE, recording_enabled=True)
    story.hang_up()
    return story


STATES: dict[str, Callable[[], Story]] = {
    "starting": starting,
    "detecting": detecting,
    "playing-fetch": lambda: answered_call(say()),
    "playing": playing,
    "gathering-fetch": lambda: gathering("fetch"),
    "gathering-prompt": lambda: gathering("prompt"),
    "gathering-first": lambda: gathering("first"),
    "gathering-between": lambda: gathering("between"),
    "dialing": lambda: dialing_call(BOB, EVE, action=say()),
    "recording": recording_voicemail,
    "pausing": lambda: answered_call({"type": "pause", "data": {"length": 5}, "action": say()}),
    "streaming": lambda: answered_call(
        {"type": "stream", "data": {"url": "wss://example.com/bot"}, "action": say()}
    ),
    "bridged": lambda: bridged_call(BOB, action=say()),
    "awaiting-webhook": lambda: answered_call(HTTPS),
    "awaiting-flow": lambda: answered_call(
        {"type": "flow", "data": {"flowId": "f"}, "action": say()}
    ),
    "ending": lambda: answered_call({"type": "hangup"}),
    "archiving-recordings": archiving,
    "ended": ended,
}
