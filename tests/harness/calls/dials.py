"""Calls that dial: their legs and results."""

import json
from typing import Any

from engine.calls.model.io_commands import SendWebhook
from tests.harness.calls.builders import ID, Story

FIRST, SECOND = f"{ID}.l1", f"{ID}.l2"
BRIDGE = f"{ID}.b2"
BOB, EVE = "+4712345678", "sip:eve@example.com"


def dial_result(story: Story) -> dict[str, Any]:
    """Return the dial's result as its webhook got it."""
    body: dict[str, Any] = json.loads(story.commands_of(SendWebhook)[-1].body)
    assert body["event"] == "dial"
    found: dict[str, Any] = body["dial"]
    return found
