"""Calls that gather."""

import json
from typing import Any

from engine.calls.model.io_commands import SendWebhook
from tests.harness.calls.builders import HTTPS, ID, Story, answered_call

PROMPT = f"{ID}.p1"
HOOK = "https://example.com/gathered"


def gathering(action: Any = HOOK, verb_timeout: float | None = None, **data: Any) -> Story:
    """Return a call that gathers, without a prompt by default."""
    verb: dict[str, Any] = {"type": "gather", "data": data, "action": action}
    return answered_call(verb if verb_timeout is None else {**verb, "timeout": verb_timeout})


def playing_prompt(**data: Any) -> Story:
    """Return a call that plays the prompt of a gather."""
    story = gathering(audioUrl=HTTPS, **data)
    story.deliver_media()
    return story


def gather_result(story: Story) -> dict[str, Any]:
    """Return the body of the last webhook."""
    webhook = story.commands_of(SendWebhook)[-1]
    assert webhook.url == HOOK
    body: dict[str, Any] = json.loads(webhook.body)
    return body
