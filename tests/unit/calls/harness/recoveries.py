"""Calls that are taken up again, and what is in their outboxes."""

from engine.calls.model.commands import Command
from engine.calls.model.events import CallOpened, LegRinging
from tests.unit.calls.harness.builders import HTTPS, MAIN, Story, answered_call, outbound, say


def open_call(story: Story) -> Story:
    """Let a call begin."""
    story.take(CallOpened())
    return story


def ringing() -> Story:
    """Make a call whose main leg rings."""
    story = open_call(Story(outbound(say())))
    story.take(LegRinging(MAIN))
    return story


def playing_call() -> Story:
    """Make a call that plays."""
    story = answered_call(say())
    story.deliver_media()
    return story


def playing_gather_prompt() -> Story:
    """Make a call that plays a gather's prompt."""
    story = answered_call({"type": "gather", "data": {"audioUrl": HTTPS}})
    story.deliver_media()
    return story


def outbox(story: Story, *kinds: type[Command]) -> tuple[Command, ...]:
    """Give the commands of some kinds, as not known to be done."""
    return tuple(each for each in story.commands if isinstance(each, kinds))
