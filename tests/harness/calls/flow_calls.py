"""Calls that run a flow with an API request."""

from engine.calls.model.io_commands import FetchMedia
from tests.harness.calls.builders import Story, say
from tests.harness.calls.flows import API, outline
from wire.media import Speech

LOOKUP = {"type": "request", "data": {"requestId": API}, "success": "good", "failure": "bad"}
LOOKUP_FLOW = outline(
    "lookup",
    lookup=LOOKUP,
    good=say("{{answers.lookup.name}}"),
    bad=say("{{answers.lookup.reason}}"),
)


def spoken_text(story: Story) -> str:
    """Return the last text to speak."""
    [source] = story.commands_of(FetchMedia)[-1].sources
    assert isinstance(source, Speech)
    return source.text
