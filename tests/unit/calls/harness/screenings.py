"""Builders for dialled parties who are greeted before they are connected."""

import json
from typing import Any

from engine.calls.model.events import DigitPressed, LegAnswered, LegCreated
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.state import Dialing, Gathering, Playing, Screening
from tests.unit.calls.harness.builders import CLIPS, HTTPS, ID, Story, dialing_call, say

BOB, EVE = "+4712345678", "+4787654321"
FIRST, SECOND = f"{ID}.l1", f"{ID}.l2"
WHISPER: dict[str, Any] = {"whisper": say("A call for sales.")}
CONFIRM: dict[str, Any] = {"confirm": {"text": "Press one."}}
DETECT: dict[str, Any] = {"machineDetection": True}


def screening_call(*numbers: str, timeout: int = 20, **data: Any) -> Story:
    """Dial parties whose first has answered after 2 s, and is to be greeted."""
    asked = {"number": list(numbers or (BOB,)), **data}
    story = dialing_call(data=asked, timeout=timeout, action=HTTPS)
    for leg in story.state_as(Dialing).legs:
        story.take(LegCreated(leg))
    story.take(LegAnswered(FIRST), 2_000)
    return story


def screening_of(story: Story, place: int = 0) -> Screening:
    """Give a greeting that goes on."""
    return story.state_as(Dialing).screenings[place]


def deliver_media(story: Story, place: int = 0) -> str:
    """Bring the audio that a greeting waits for; gives the playback."""
    state = screening_of(story, place).state
    assert isinstance(state, (Playing, Gathering))
    story.take(MediaFetched(state.request, CLIPS))
    return state.request


def press_digit(story: Story, digit: str, leg: str = FIRST) -> Any:
    """Press a key on a dialled leg."""
    return story.take(DigitPressed(leg, digit, story.now + 100), 200)


def dial_result(story: Story) -> dict[str, Any]:
    """Read how the dial ended, as its action webhook was told."""
    body: dict[str, Any] = json.loads(story.commands_of(SendWebhook)[-1].body)
    found: dict[str, Any] = body["dial"]
    return found


def prompt_playback(story: Story) -> str:
    """Name the playback of the one greeting."""
    state = screening_of(story).state
    assert isinstance(state, Playing)
    return state.request
