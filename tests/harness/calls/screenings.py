"""Builders for dialed parties who are screened before they are connected."""

import json
from typing import Any

from engine.calls.model.call_states import Dialing, Gathering, Playing, Screening
from engine.calls.model.events import DigitPressed, LegAnswered, LegCreated
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.io_results import MediaFetched
from tests.harness.calls.builders import CLIPS, HTTPS, ID, Story, dialing_call, say

BOB, EVE = "+4712345678", "+4787654321"
FIRST, SECOND = f"{ID}.l1", f"{ID}.l2"
WHISPER: dict[str, Any] = {"whisper": say("A call for sales.")}
CONFIRM: dict[str, Any] = {"confirm": {"text": "Press one."}}
DETECT: dict[str, Any] = {"machineDetection": True}


def screening_call(*numbers: str, timeout: int = 20, **data: Any) -> Story:
    """Return a call whose first dialed leg has answered after 2 s and is screened."""
    dial_data = {"number": list(numbers or (BOB,)), **data}
    story = dialing_call(data=dial_data, timeout=timeout, action=HTTPS)
    for leg in story.state_as(Dialing).legs:
        story.take(LegCreated(leg))
    story.take(LegAnswered(FIRST), 2_000)
    return story


def screening_of(story: Story, place: int = 0) -> Screening:
    return story.state_as(Dialing).screenings[place]


def deliver_media(story: Story, place: int = 0) -> str:
    """Deliver the audio that a screening waits for; returns the playback."""
    state = screening_of(story, place).state
    assert isinstance(state, (Playing, Gathering))
    story.take(MediaFetched(state.request, CLIPS))
    return state.request


def press_digit(story: Story, digit: str, leg: str = FIRST) -> Any:
    """Press a digit on a dialed leg."""
    return story.take(DigitPressed(leg, digit, story.now + 100), 200)


def dial_result(story: Story) -> dict[str, Any]:
    """Return the dial's result as its webhook got it."""
    body: dict[str, Any] = json.loads(story.commands_of(SendWebhook)[-1].body)
    found: dict[str, Any] = body["dial"]
    return found


def prompt_playback(story: Story) -> str:
    """Return the playback of the first screening."""
    state = screening_of(story).state
    assert isinstance(state, Playing)
    return state.request
